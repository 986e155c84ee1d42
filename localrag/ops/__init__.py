"""Everything around asking: sessions, batches, conversations, backups, bundles, the doctor."""

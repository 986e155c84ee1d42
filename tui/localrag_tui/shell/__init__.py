"""What surrounds the screens: the bar above, help, the command palette, small dialogues."""

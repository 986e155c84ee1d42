"""The Check screen: what a text says of laws, verdict by verdict, beside the text."""

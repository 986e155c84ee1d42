"""The Check screen: citations and quotations in a text, checked against the laws."""

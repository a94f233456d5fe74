"""One module per recording format; formats are told by their content, never by a file's name."""

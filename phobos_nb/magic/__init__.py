"""The notebook's side: the cell magic `%%phobos` and how it reports mistakes."""

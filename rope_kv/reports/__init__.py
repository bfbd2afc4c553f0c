"""Reports: one verdict in, one document out, a file each."""

"""Writers of the embedded languages in the official raw format of each source, one module a source."""

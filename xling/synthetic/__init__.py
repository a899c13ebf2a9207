"""The embedded (generated) languages: meanings, sentences for them, and every data source in its raw format."""

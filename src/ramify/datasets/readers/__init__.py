"""Readers of the field's files: one module per format, `any_file.read` for all of them."""

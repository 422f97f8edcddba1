"""Prepared tables: data of any size as one-byte codes in a file, made once and mapped to memory when it is used."""

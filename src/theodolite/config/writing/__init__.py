"""Writing: study files that the program writes: the long form, the first files, one file taken apart."""

"""Pages of `theodolite view`: studies and runs of this machine, for one person without an account."""

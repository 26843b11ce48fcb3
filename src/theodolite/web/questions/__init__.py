"""Questions of any instrument on a page: how they are shown, read back, saved and checked."""

"""What a kernel and a program mean, by execution on numpy arrays; and the provider ``reference``."""

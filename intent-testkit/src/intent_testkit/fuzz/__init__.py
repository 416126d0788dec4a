"""Random kernels and random plans: every evaluator and provider must agree on them."""

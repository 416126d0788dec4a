"""What a kernel can grow: one function per kind of statement, each leaving values in the writer's pool."""

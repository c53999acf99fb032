#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Begins or ends counting, for all threads.
void allocations_count(bool on);

/// How many allocations there were while counting.
size_t allocations_made(void);

/// How many bytes the allocations made while counting take, less those of the blocks freed while counting.
long allocations_live_bytes(void);

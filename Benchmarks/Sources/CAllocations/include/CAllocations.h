#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Starts or stops counting, for all threads.
void allocations_count(bool on);

/// The number of allocations made while counting.
size_t allocations_made(void);

/// The bytes allocated while counting, minus those freed while counting.
long allocations_live_bytes(void);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "link_rate.h"

#include <stddef.h>

/* IBA vol. 1, 14.2.5.6 and 15.2.5.16. */
static const struct preload_link_rate rates[] = {
	{3, 2, 1},    {2, 1, 1},    {5, 1, 2},   {6, 2, 2},   {7, 2, 4},   {4, 8, 1},
	{8, 8, 2},    {9, 4, 4},    {10, 8, 4},  {11, 1, 16}, {12, 2, 16}, {13, 4, 16},
	{14, 8, 16},  {15, 1, 32},  {16, 2, 32}, {17, 2, 64}, {18, 8, 32}, {19, 16, 16},
	{20, 16, 32}, {21, 2, 128}, {22, 8, 64},
};

const struct preload_link_rate *preload_link_rate(uint8_t code)
{
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		if (rates[i].code == code)
			return &rates[i];
	}
	return &rates[0];
}

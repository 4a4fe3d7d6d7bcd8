# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The DLID of a path record is taken in the wrong byte order.
set(engine_source sa_mad.c)
set(healthy_1 [[	acm_path_record_load(&decoded, mad + AT_RECORD);]])
set(faulty_1 [[	acm_path_record_load(&decoded, mad + AT_RECORD);
	decoded.dlid = __builtin_bswap16(decoded.dlid);]])

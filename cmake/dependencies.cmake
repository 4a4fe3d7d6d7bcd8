# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is needed from outside, by pkg-config; what is missing is named with its Debian package, all at once.
find_package(PkgConfig REQUIRED)

set(missing "")
macro(acmite_require target module package)
	pkg_check_modules(${target} IMPORTED_TARGET GLOBAL ${module})
	if(NOT ${target}_FOUND)
		string(APPEND missing "\n  ${module} (Debian: ${package})")
	endif()
endmacro()

acmite_require(YAML yaml-0.1 libyaml-dev)
acmite_require(EVENT libevent_core libevent-dev)
acmite_require(JANSSON jansson libjansson-dev)
acmite_require(SMARTCOLS smartcols libsmartcols-dev)
acmite_require(CMOCKA cmocka libcmocka-dev)
if(missing)
	message(FATAL_ERROR "these are missing; ./ci/setup installs them:${missing}")
endif()

# Optional: only hardware, and the comparison with the field's header, need them.
pkg_check_modules(IBVERBS IMPORTED_TARGET GLOBAL libibverbs)
pkg_check_modules(IBUMAD IMPORTED_TARGET GLOBAL libibumad)
if(NOT IBVERBS_FOUND OR NOT IBUMAD_FOUND)
	message(STATUS "rdma-core's development files are not here: left out are the "
		"verbs backend, the library by which acmite fabric exec runs programs built for hardware "
		"(libibverbs-dev, libibumad-dev; ./ci/setup installs them) and the test of "
		"include/infiniband/acm.h against the distribution's header")
endif()

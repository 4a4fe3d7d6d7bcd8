# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Usage: cmake -D FAULT=FILE -D ENGINE=FOLDER -D RESULT=FILE -P plant.cmake
# Writes one of the engine's sources with a fault planted in it. A fault that no longer fits the source is an
# error: a canary that is healthy would die of nothing.
include(${FAULT})
file(READ ${ENGINE}/${engine_source} text)
set(edit 1)
while(DEFINED healthy_${edit})
	string(FIND "${text}" "${healthy_${edit}}" first)
	string(FIND "${text}" "${healthy_${edit}}" last REVERSE)
	if(first EQUAL -1 OR NOT first EQUAL last)
		message(FATAL_ERROR "${FAULT}: its healthy text number ${edit} is not in engine/${engine_source} "
			"exactly once; plant the fault anew")
	endif()
	string(REPLACE "${healthy_${edit}}" "${faulty_${edit}}" text "${text}")
	math(EXPR edit "${edit} + 1")
endwhile()
file(WRITE ${RESULT} "${text}")

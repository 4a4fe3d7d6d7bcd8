/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults of the SA, under any control: a control around another one, all of whose operations are
 * that one's, but for SA requests, of engines and of programs. A judge says of each what becomes of
 * it: it is lost, refused, served late, or answered twice or not at all. Time is what process() is
 * given, so a run in virtual time stays the same to the byte.
 */
#ifndef ACMITE_SIM_SA_FAULTS_H
#define ACMITE_SIM_SA_FAULTS_H

#include "control.h"

/* A request on its way to the SA. */
struct sim_sa_query {
	struct sim_port_ref port;
	uint64_t time;
	const uint8_t *mad; /* ACM_MAD_LENGTH bytes */
};

enum sim_sa_fate {
	SIM_SA_ANSWERED,
	SIM_SA_LOST,    /* on its way: nothing comes back, and it has no effect */
	SIM_SA_REFUSED, /* answered with .status and no record; it has no effect */
};

/* What becomes of it. All zero: answered as usual. */
struct sim_sa_verdict {
	enum sim_sa_fate fate;
	uint16_t status;    /* MAD status: 0x0001 busy, 0x0300 no records, ... */
	uint64_t delay;     /* ns that it waits before the SA takes it */
	bool lost_answer;   /* with ANSWERED: it has its effect, but the answer is lost */
	bool twice;         /* answered once more ... */
	uint64_t twice_gap; /* ... that many ns later */
	/*
	 * Changes the answer on its way back: its bytes, of which there is room for `room`, and
	 * their number. `draw` is alter_draw. NULL: it stays as it is.
	 */
	void (*alter)(uint64_t draw, uint8_t *mad, uint32_t *length, uint32_t room);
	uint64_t alter_draw;
};

/* Called for each request; may change the verdict, which comes all zero. */
typedef void sim_sa_judge(void *context, const struct sim_sa_query *query,
			  struct sim_sa_verdict *verdict);

/*
 * Takes over `inner` on success. A refused request goes to the SA as a ping, and its answer comes
 * back as the refusal: so an SA that is not there does not refuse either. 0 or -ENOMEM.
 */
int sim_sa_faults_create(struct sim_control *inner, sim_sa_judge *judge, void *context,
			 struct sim_control **control);

#endif

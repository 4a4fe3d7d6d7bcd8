/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_survey.h"

#include <errno.h>

#define SHORT_INTERVAL (5 * ACM_NSEC_PER_MSEC)
#define LONG_INTERVAL  ACM_NSEC_PER_SEC
/* A large fabric is looked at less often, so that ibsim is not kept busy by it. */
#define LONG_INTERVAL_FACTOR 20

static void begin_reading(struct ibsim_pass *pass, struct ibsim_reading *reading);

static void end_reading(struct ibsim_pass *pass, struct ibsim_reading *reading)
{
	pass->changed |= reading->changed;
	reading->active = false;
	pass->active--;
	begin_reading(pass, reading);
}

static void answered(void *context, uint64_t cookie, int status, const uint8_t *mad);

static void send_next(struct ibsim_pass *pass, struct ibsim_reading *reading)
{
	static const struct ibsim_address directed = {IBSIM_LID_NONE, IBSIM_LID_NONE, 0};
	const struct ibsim_target *target = &pass->targets[reading->target];
	uint8_t mad[ACM_MAD_LENGTH];

	if (!pass->ops->next(pass->context, reading)) {
		if (pass->ops->complete)
			pass->ops->complete(pass->context, reading);
		end_reading(pass, reading);
		return;
	}
	ibsim_encode_smp(reading->attribute, reading->modifier, target->path,
			 reading->nearby ? 0 : target->hops, mad);
	if (ibsim_pool_send(pass->pool, reading->nearby ? target->node : pass->sm_node, &directed,
			    mad, answered, reading, 0) < 0)
		end_reading(pass, reading); /* the next pass reads it */
}

static void start(struct ibsim_pass *pass, struct ibsim_reading *reading, bool nearby)
{
	reading->step = 0;
	reading->nearby = nearby;
	reading->found = false;
	send_next(pass, reading);
}

static void answered(void *context, uint64_t cookie, int status, const uint8_t *mad)
{
	struct ibsim_reading *reading = context;
	struct ibsim_pass *pass = reading->pass;
	const uint8_t *data = status == 0 ? ibsim_smp_data(mad) : NULL;

	(void)cookie;
	if (data) {
		pass->ops->store(pass->context, reading, data);
		reading->step++;
		send_next(pass, reading);
	} else if (status == -EHOSTUNREACH && !reading->nearby) {
		start(pass, reading, true);
	} else {
		end_reading(pass, reading);
	}
}

static void begin_reading(struct ibsim_pass *pass, struct ibsim_reading *reading)
{
	if (pass->next_target == pass->count)
		return;
	reading->active = true;
	reading->changed = false;
	reading->target = pass->next_target++;
	pass->active++;
	start(pass, reading, !pass->targets[reading->target].reachable);
}

static void begin_pass(struct ibsim_pass *pass)
{
	pass->running = true;
	pass->hinted = false;
	pass->changed = false;
	pass->started = pass->now;
	pass->next_target = 0;
	for (uint32_t i = 0; i < IBSIM_READINGS; i++)
		begin_reading(pass, &pass->readings[i]);
}

static void end_pass(struct ibsim_pass *pass)
{
	uint64_t took = pass->now - pass->started;
	uint64_t longest = took * LONG_INTERVAL_FACTOR;

	if (longest < LONG_INTERVAL)
		longest = LONG_INTERVAL;
	if (pass->changed || pass->hinted)
		pass->interval = SHORT_INTERVAL;
	else
		pass->interval *= 2;
	if (pass->interval < took)
		pass->interval = took;
	if (pass->interval > longest)
		pass->interval = longest;
	pass->due = pass->now + pass->interval;
	pass->running = false;
	pass->seen_change |= pass->changed;
	pass->rounds++;
}

void ibsim_pass_init(struct ibsim_pass *pass, const struct ibsim_pass_ops *ops, void *context,
		     struct ibsim_pool *pool, uint32_t sm_node, const struct ibsim_target *targets,
		     uint32_t count)
{
	*pass = (struct ibsim_pass){.ops = ops,
				    .context = context,
				    .pool = pool,
				    .sm_node = sm_node,
				    .targets = targets,
				    .count = count,
				    .interval = SHORT_INTERVAL,
				    .due = ACM_NEVER};
	for (uint32_t i = 0; i < IBSIM_READINGS; i++) {
		pass->readings[i].pass = pass;
		pass->readings[i].place = i;
	}
}

void ibsim_pass_hint(struct ibsim_pass *pass)
{
	pass->hinted = true;
	if (pass->running)
		return;
	/* Hints may come by the thousand: passes keep their distance. */
	if (pass->due > pass->now + SHORT_INTERVAL)
		pass->due = pass->now;
	pass->interval = SHORT_INTERVAL;
}

void ibsim_pass_process(struct ibsim_pass *pass, uint64_t now)
{
	pass->now = now;
	if (pass->running && pass->active == 0)
		end_pass(pass);
	if (!pass->running && now >= pass->due)
		begin_pass(pass);
}

uint64_t ibsim_pass_deadline(const struct ibsim_pass *pass)
{
	if (pass->running)
		return pass->active == 0 ? 0 : ACM_NEVER;
	return pass->due;
}

bool ibsim_pass_take_change(struct ibsim_pass *pass)
{
	bool changed = pass->seen_change;

	pass->seen_change = false;
	return changed;
}

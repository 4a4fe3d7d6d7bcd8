/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sa_inquiry.h"
#include "real_time.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define WINDOW 64

/* A control without a descriptor has a clock of its own: it is set to what comes next. */
static bool advance(struct sim_control *control)
{
	uint64_t next = control->ops->deadline(control);

	return next != ACM_NEVER && control->ops->process(control, next) == 0;
}

bool sim_control_wait(struct sim_control *control, uint64_t until)
{
	struct pollfd fd = {.fd = control->ops->fd(control), .events = POLLIN};
	uint64_t now = sim_real_time(), next;
	struct timespec timeout;

	if (fd.fd < 0)
		return advance(control);
	if (now >= until)
		return false;
	next = control->ops->deadline(control);
	if (next > until)
		next = until;
	next = next > now ? next - now : 0;
	timeout.tv_sec = (time_t)(next / ACM_NSEC_PER_SEC);
	timeout.tv_nsec = (long)(next % ACM_NSEC_PER_SEC);
	ppoll(&fd, 1, &timeout, NULL);
	return control->ops->process(control, sim_real_time()) == 0;
}

struct course {
	struct sim_inquiry *inquiries;
	uint32_t count;
	uint32_t sent;
	uint32_t answered;
};

static int send_more(struct sim_control *control, struct course *course)
{
	while (course->sent < course->count && course->sent - course->answered < WINDOW) {
		struct sim_inquiry *inquiry = &course->inquiries[course->sent];
		int error = control->ops->sa_send(control, inquiry->port, 0, inquiry->mad,
						  course->sent + UINT64_C(1));

		if (error == -EAGAIN)
			return 0;
		if (error)
			return error;
		course->sent++;
	}
	return 0;
}

static void take_answer(struct course *course, const struct sim_control_event *event)
{
	uint64_t place = event->cookie - 1;
	struct sim_inquiry *inquiry;

	if (place >= course->count || course->inquiries[place].answered)
		return;
	inquiry = &course->inquiries[place];
	inquiry->answered = true;
	course->answered++;
	memcpy(inquiry->answer, event->mad,
	       event->length < ACM_MAD_LENGTH ? event->length : ACM_MAD_LENGTH);
}

static int take_events(struct sim_control *control, struct course *course)
{
	struct sim_control_event event;

	while (control->ops->next_event(control, &event)) {
		if (event.type == SIM_CONTROL_SA_ANSWER)
			take_answer(course, &event);
		else if (event.type == SIM_CONTROL_SA_FAILED)
			return event.status;
		else if (event.type == SIM_CONTROL_DIED)
			return -EPIPE;
	}
	return 0;
}

int sim_inquire(struct sim_control *control, struct sim_inquiry *inquiries, uint32_t count,
		uint64_t timeout)
{
	struct course course = {.inquiries = inquiries, .count = count};
	uint64_t until = sim_real_time() + timeout;
	int error = 0;

	for (uint32_t i = 0; i < count; i++)
		inquiries[i].answered = false;
	while (course.answered < count && !error) {
		error = send_more(control, &course);
		if (!error && !sim_control_wait(control, until))
			error = -ETIMEDOUT;
		if (!error)
			error = take_events(control, &course);
	}
	return error;
}

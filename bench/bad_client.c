/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Usage: bench_bad_client TRICK SOCKET SOURCE DESTINATION
 * Plays one client that does as it should not, and prints "yes" when the service takes that well,
 * else "no" and why. SOURCE and DESTINATION are names that resolve.
 */
#include "socket_load.h"

#include <infiniband/acm.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS    5000
#define VANISHING      300
#define REPEATED       10
#define UNREAD         100000
#define AFTERWARDS     5
#define UNREAD_WAIT_MS 500

static const char *path;
static struct load_question good;

/* False: an error, the end of the stream, or silence. */
static bool answered(int fd, enum acm_status *status)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	uint8_t data[ACM_CLIENT_REPLY_MAX];
	struct acm_reply reply;
	size_t got = 0;

	while (!got || acm_client_reply_frame(data, got) != (int)got) {
		size_t want = got < ACM_CLIENT_HEADER_LENGTH
				      ? ACM_CLIENT_HEADER_LENGTH
				      : (size_t)acm_client_reply_frame(data, got);
		ssize_t more;

		if (want > sizeof(data) || poll(&polled, 1, PATIENCE_MS) != 1)
			return false;
		more = recv(fd, data + got, want - got, 0);
		if (more <= 0)
			return false;
		got += (size_t)more;
	}
	if (acm_client_decode_reply(data, got, &reply))
		return false;
	*status = reply.status;
	return true;
}

static bool put(int fd, const uint8_t *bytes, size_t length)
{
	return send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Whether a client that behaves gets what it asks for. */
static bool others_are_served(void)
{
	enum acm_status status;
	int fd = load_connect(path);
	bool served = put(fd, good.bytes, good.length) && answered(fd, &status) && !status;

	close(fd);
	return served;
}

/* ---- tricks: NULL when the service did what it should, else what it did instead ---- */

/*
 * A destination and seven records that are neither: as long as may be, so there is no room for a
 * source, which is to be found for an IP address.
 */
static void make_long(struct load_question *message)
{
	const uint8_t address[] = {127, 0, 0, 1};
	struct acm_hdr header = {
		.version = ACM_VERSION, .opcode = ACM_OP_RESOLVE, .length = ACM_CLIENT_REQUEST_MAX};
	struct acm_ep_addr_data record = {.flags = ACM_EP_FLAG_DEST,
					  .type = ACM_EP_INFO_ADDRESS_IP};

	*message = (struct load_question){.length = ACM_CLIENT_REQUEST_MAX};
	memcpy(record.info.addr, address, sizeof(address));
	memcpy(message->bytes, &header, sizeof(header));
	memcpy(message->bytes + ACM_MSG_HDR_LENGTH, &record, sizeof(record));
}

static const char *play_long(void)
{
	struct load_question message;
	enum acm_status status;

	make_long(&message);
	for (int i = 0; i < REPEATED; i++) {
		int fd = load_connect(path);

		put(fd, message.bytes, message.length);
		if (answered(fd, &status) && !status)
			return "it is answered as if it were good";
		close(fd);
	}
	return NULL;
}

static const char *play_vanishing(void)
{
	for (int i = 0; i < VANISHING; i++) {
		int fd = load_connect(path);

		put(fd, good.bytes, good.length);
		close(fd);
	}
	return NULL;
}

static const char *play_split(void)
{
	enum acm_status status;
	int fd = load_connect(path);
	bool well;

	put(fd, good.bytes, good.length / 2);
	if (!others_are_served()) /* by then it has seen the first half */
		return "others are not served meanwhile";
	well = put(fd, good.bytes + good.length / 2, good.length - good.length / 2) &&
	       answered(fd, &status) && !status;
	close(fd);
	return well ? NULL : "it is not answered";
}

static const char *play_joined(void)
{
	uint8_t both[2 * ACM_CLIENT_REQUEST_MAX];
	enum acm_status status;
	int fd = load_connect(path);
	bool well;

	memcpy(both, good.bytes, good.length);
	memcpy(both + good.length, good.bytes, good.length);
	well = put(fd, both, 2 * good.length) && answered(fd, &status) && !status &&
	       answered(fd, &status) && !status;
	close(fd);
	return well ? NULL : "not both are answered";
}

static const char *play_answer(void)
{
	struct load_question message = good;
	enum acm_status status;
	int fd = load_connect(path);

	((struct acm_hdr *)(void *)message.bytes)->opcode = ACM_OP_RESOLVE | ACM_OP_ACK;
	put(fd, message.bytes, message.length);
	if (!answered(fd, &status))
		return "it is not answered";
	if (status != ACM_STATUS_INVALID)
		return "it is not refused as invalid";
	close(fd);
	return NULL;
}

/* False: it is still unread after a while. */
static bool is_read(int fd)
{
	for (int ms = 0; ms < UNREAD_WAIT_MS; ms++) {
		int unread = 0;

		for (int asked = 0; asked < 1000; asked++)
			if (ioctl(fd, SIOCOUTQ, &unread) || !unread)
				return true;
		poll(NULL, 0, 1);
	}
	return false;
}

/*
 * One after the other, as two at once would be another trick; the answers stay unread, and so does
 * the client while the others ask.
 */
static const char *play_unread(void)
{
	int fd = load_connect(path);

	for (int i = 0; i < UNREAD; i++)
		if (!put(fd, good.bytes, good.length) || !is_read(fd))
			break;
	return NULL;
}

static const struct {
	const char *name;
	const char *(*play)(void);
} tricks[] = {
	{"long", play_long},     {"vanishing", play_vanishing}, {"split", play_split},
	{"joined", play_joined}, {"answer", play_answer},       {"unread", play_unread},
};

int main(int argc, char **argv)
{
	const char *wrong = "there is no such trick";

	if (argc != 5) {
		fprintf(stderr, "Usage: bench_bad_client TRICK SOCKET SOURCE DESTINATION\n");
		return EXIT_FAILURE;
	}
	path = argv[2];
	load_question_make(&good, argv[3], argv[4]);
	for (size_t i = 0; i < sizeof(tricks) / sizeof(tricks[0]); i++) {
		if (strcmp(argv[1], tricks[i].name) == 0)
			wrong = tricks[i].play();
	}
	for (int i = 0; i < AFTERWARDS && !wrong; i++) {
		if (!others_are_served())
			wrong = "others are not served any more";
	}
	printf("%s%s\n", wrong ? "no: " : "yes", wrong ? wrong : "");
	return EXIT_SUCCESS;
}

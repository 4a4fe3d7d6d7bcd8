/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Usage: fuzz_NAME FOLDER
 * Where there is no libFuzzer: gives a harness each file of its corpus, and nothing at all.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	struct stat status;
	FILE *file = fopen(path, "re");
	uint8_t *data = NULL;
	int ret = -1;

	/* Of exactly its length, so that reading past its end shows. */
	if (file && !fstat(fileno(file), &status) && (data = malloc((size_t)status.st_size)) &&
	    fread(data, 1, (size_t)status.st_size, file) == (size_t)status.st_size)
		ret = LLVMFuzzerTestOneInput(data, (size_t)status.st_size);
	free(data);
	if (file)
		fclose(file);
	return ret;
}

int main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	unsigned int count = 0;
	char path[4096];

	if (!folder) {
		fprintf(stderr, "the folder of a corpus was expected\n");
		return EXIT_FAILURE;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		printf("%s\n", path);
		fflush(stdout);
		if (replay(path)) {
			fprintf(stderr, "%s: cannot be read, or was not taken\n", path);
			return EXIT_FAILURE;
		}
		count++;
	}
	closedir(folder);
	return count ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Judges tables: judge NETWORK LFTS [SL2VL [PSL]]. Exit code 0: proven and complete, 1: a
 * finding, 2: usage, 3: bad input.
 *
 *   cc -o judge judge.c -lweft-c */
#include <inttypes.h>
#include <stdio.h>
#include <weft.h>

int main(int argc, char **argv)
{
	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: judge NETWORK LFTS [SL2VL [PSL]]\n");
		return 2;
	}
	weft_question question = {.size = sizeof question, .network = {.name = argv[1]}, .lfts = {.name = argv[2]}};
	if (argc > 3)
		question.sl2vl.name = argv[3];
	if (argc > 4)
		question.psl.name = argv[4];

	char *error;
	weft_verdict *v = weft_judge(&question, &error);
	if (v == NULL) {
		fprintf(stderr, "%s\n", error);
		weft_text_free(error);
		return 3;
	}
	printf("%s (contract %s, endpoints %s): %" PRId64 " of %" PRId64 " pairs without a route, %" PRId64 " dependencies, %d lanes\n",
	       v->free ? "proven free of deadlock" : "credit loop", v->contract, v->endpoints, v->unreachable, v->pairs, v->dependencies, v->lanes);
	for (size_t i = 0; i < v->steps; i++) {
		const weft_step *s = &v->loop[i];
		printf("  %s port %d to %s port %d, VL %d, by packets from %s to %s\n",
		       s->from, s->from_port, s->to, s->to_port, s->vl, s->source, s->destination);
	}
	int fine = v->free && v->complete;
	weft_verdict_free(v);
	return fine ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spanning tree of an answer, of which the trees of all multicast groups are parts.
 *
 * A switch copies a packet of a group to every port of the group's tree but the one it came
 * in by, and keeps its buffer until the last copy is gone. So between each two cables of the
 * tree that meet at a switch there is a dependency in either direction. The ranks of the
 * answer are to rise along all of them, as they do along the paths of unicast: then no circle
 * of packets that wait for one another can close, whichever groups there are, whoever joins
 * them and leaves.
 */
#ifndef WEFT_TREE_H
#define WEFT_TREE_H

#include "tables.h"

/*
 * tree_place reads the tree of tables and sees that it joins all switches by cables that are
 * there, or of what is left of tables some of them; 0: why says what is wrong.
 */
int tree_place(struct tables *t, const struct net *n, char *why);

/*
 * tree_prove is 0 if the ranks rise all over the tree; of a step also while the tables in use
 * are replaced. Tables without a tree have nothing to prove. Else why says what is wrong.
 */
int tree_prove(const struct tables *t, const struct before *b, const struct net *n, char *why);

/*
 * tree_part finds the part of the tree that joins some rows, those that has is not 0 for: part is
 * not 0 for a row whose cable towards the root is in it. Both are by row. 0: out of memory.
 */
int tree_part(const struct tables *t, const uint8_t *has, uint8_t *part);

/* tree_text says what the tree is for, in the words of weft's command. */
#define TREE_SIZE 96
void tree_text(const struct tables *t, char *text);

#endif

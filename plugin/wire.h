/* SPDX-License-Identifier: BSD-2-Clause */
/* The constants of the wire format; doc.go beside this file is the specification. */
#ifndef WEFT_WIRE_H
#define WEFT_WIRE_H

#define WIRE_MAGIC "WEFT"
#define WIRE_VERSION 4

#define WIRE_REQUEST 1
#define WIRE_TABLES 2
#define WIRE_REFUSAL 3

#define WIRE_HEADER_SIZE 16
#define WIRE_REQUEST_SIZE 48 /* before the records */
#define WIRE_NODE_SIZE 96
#define WIRE_NAME_SIZE 64
#define WIRE_PORT_SIZE 24
#define WIRE_BLOCK_SIZE 72
#define WIRE_BLOCK_LIDS 64 /* of a block record */
#define WIRE_TABLES_SIZE 96 /* before the tables */
#define WIRE_ENGINE_SIZE 32
#define WIRE_REFUSAL_SIZE 8 /* before the reason */
#define WIRE_REASON_MAX 4096

#define WIRE_QOS 1	/* flags of a request */
#define WIRE_IMPROVES 2 /* the sender knows WIRE_SO_FAR */
#define WIRE_AGAIN 4	/* it waits for better tables than those answered with that */
#define WIRE_FILLED 8	/* none of our tables are in use, and some switch forwards by tables of before */
#define WIRE_STANDS 16	/* it keeps a question open where tables say WIRE_ORDERS */
#define WIRE_SO_FAR 1	/* flags of tables: better ones may follow */
#define WIRE_DIRECTED 2 /* no client uses the PathRecord of the opposite direction */
#define WIRE_STEP 4	/* the ranks hold while the tables in use are replaced by these */
#define WIRE_DROPS 8	/* of a step: it may cut pairs, until the next */
#define WIRE_NEW_TREE 16 /* of a step: the tree is another than that of the tables in use */
#define WIRE_ORDERS 32	/* others may be ordered at any time: asked with WIRE_AGAIN, the daemon answers then */

/* The device that aggregation nodes are; all other adapters are hosts. */
#define WIRE_AGGREGATION_VENDOR 0x2c9
#define WIRE_AGGREGATION_DEVICE 0xcf09

#define WIRE_NO_PEER 0xFFFFFFFF
#define WIRE_NO_PORT 255
#define WIRE_SLS 16
#define WIRE_MAX_LANES 15
#define WIRE_DROPPED 15 /* the lane of a service level that is dropped */
#define WIRE_UNUSED (-1)

#endif

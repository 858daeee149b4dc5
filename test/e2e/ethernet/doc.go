// Package ethernet tests what weft computes for lossless Ethernet against FRR: real routers,
// zebra and bgpd, in network namespaces of this machine. It holds tests only.
package ethernet

// Package ethernet is a lossless Ethernet network: devices, cables, the routes of every
// prefix, and which packets are lossless on which link.
//
// # The model
//
// Priority flow control (IEEE 802.1Qbb) pauses one of eight priorities of a link when the
// buffer behind it, a priority group of the receiving port, is nearly full. A paused
// device fills up in turn and pauses the links behind it, and pauses that wait for each
// other in a circle never end (C. Guo et al., RDMA over Commodity Ethernet at Scale,
// SIGCOMM 2016; S. Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How
// to Avoid Them, HotNets 2016; S. Hu et al., Tagger: Practical PFC Deadlock Prevention in
// Data Center Networks, CoNEXT 2017).
//
// A lane is a direction of a link with a priority group of the port that receives. A
// packet in a lane waits for whatever lanes its next hops lead to. ECMP picks a next hop by
// a hash, without looking at queues; so every choice counts, and a network is proven only if
// no circle can be made of any choices. There is no argument by escape paths, as adaptive
// routers have. Packets that the sender keeps in one queue are paused together, so priority
// groups whose packets share a queue are one lane. Packets outside every lossless group are
// dropped where there is no space: they hold nothing and wait for nothing.
//
// # Words
//
// A mark is all that a packet carries and devices look at to choose its priority: a DSCP, or
// a priority by itself where there are no maps. Marks that every device treats alike are
// one. A class is a set of prefixes that every device routes alike; a network of thousands
// of routes has few. A row is the next hops of a class at all devices, a bit for each link.
//
// # Index spaces
//
// DeviceID and LinkID are dense from zero. Devices are in the order of their names, with
// numbers in them read as numbers. The links that leave a device are consecutive, by
// interface; the bits of a row are by device in words of their own.
package ethernet

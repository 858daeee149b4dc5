// Command libweft is weft for C: built with -buildmode=c-shared (make libweft) it is the
// library libweft-c.so.1, of which weft.h is the whole interface. What C sees is made here,
// in C's memory; what weft computes is in judge.go.
package main

// #include <stdlib.h>
// #include "weft.h"
// typedef const char const_char;
// typedef const weft_question const_question;
import "C"

import (
	"math"
	"unsafe"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
)

// madeVersion is what the Makefile knows of the tree.
var madeVersion = "unknown"

var version = C.CString(madeVersion)

func main() {} // never called: a library has none, but Go wants one

//export weft_api
func weft_api() C.int { return C.WEFT_API }

//export weft_version
func weft_version() *C.const_char { return version }

//export weft_judge
func weft_judge(asked *C.const_question, failed **C.char) *C.weft_verdict {
	q, err := asks(asked)
	var a *answer
	if err == "" {
		var e error
		if a, e = judged(q); e != nil {
			err = e.Error()
		}
	}
	if failed != nil {
		*failed = nil
	}
	if err != "" {
		if failed != nil {
			*failed = C.CString(err)
		}
		return nil
	}
	return inC(a)
}

//export weft_text_free
func weft_text_free(text *C.char) { C.free(unsafe.Pointer(text)) }

//export weft_verdict_free
func weft_verdict_free(v *C.weft_verdict) {
	if v == nil {
		return
	}
	for _, step := range unsafe.Slice(v.loop, v.steps) {
		for _, text := range []*C.char{step.from, step.to, step.source, step.destination} {
			weft_text_free(text)
		}
	}
	for _, text := range unsafe.Slice(v.outside, v.outside_count) {
		weft_text_free(text)
	}
	C.free(unsafe.Pointer(v.loop))
	C.free(unsafe.Pointer(v.outside))
	for _, text := range []*C.char{v.contract, v.endpoints, v.certificate} {
		weft_text_free(text)
	}
	C.free(unsafe.Pointer(v))
}

// asks reads a question, of which a caller built with a later weft.h has more than is known
// here. The second result says what is wrong with it.
func asks(asked *C.const_question) (*question, string) {
	if asked == nil {
		return nil, "weft_judge: the question is NULL"
	}
	var c C.weft_question
	if asked.size < C.size_t(unsafe.Sizeof(c)) {
		return nil, "weft_judge: size of the question is not sizeof (weft_question)"
	}
	c = *asked
	q := &question{contract: goText(c.contract), endpoints: goText(c.endpoints)}
	for _, part := range []struct {
		from C.weft_text
		to   *text
	}{{c.network, &q.network}, {c.lfts, &q.lfts}, {c.list, &q.list}, {c.sl2vl, &q.sl2vl}, {c.psl, &q.psl}} {
		part.to.name = goText(part.from.name)
		if part.from.text == nil {
			continue
		}
		if uint64(part.from.bytes) > math.MaxInt {
			return nil, "weft_judge: a text has more bytes than there are"
		}
		// The caller keeps it until the call is over, and nobody writes into it.
		part.to.text = unsafe.Slice((*byte)(part.from.text), int(part.from.bytes))
	}
	return q, ""
}

func goText(text *C.char) string {
	if text == nil {
		return ""
	}
	return C.GoString(text)
}

// inC is an answer in memory of C's.
func inC(a *answer) *C.weft_verdict {
	v := a.verdict
	c := (*C.weft_verdict)(C.calloc(1, C.sizeof_weft_verdict))
	c.free, c.complete = yes(v.Free()), yes(v.Complete())
	c.contract, c.endpoints = C.CString(v.Contract.String()), C.CString(v.Scope.String())
	c.pairs, c.unreachable, c.circling, c.dropped = C.int64_t(v.Pairs), C.int64_t(v.Unreachable), C.int64_t(v.Loops), C.int64_t(v.Dropped)
	c.dependencies, c.lanes = C.int64_t(v.Dependencies), C.int(v.VLs)
	if n := len(v.Cycle); n > 0 {
		c.steps = C.size_t(n)
		c.loop = (*C.weft_step)(C.calloc(c.steps, C.sizeof_weft_step))
		loop := unsafe.Slice(c.loop, n)
		for i := range loop {
			loop[i] = stepInC(a.fabric, &v.Cycle[i])
		}
	}
	if a.certificate != nil {
		c.certificate = C.CString(string(a.certificate))
	}
	outside := v.Outside()
	c.outside_count = C.size_t(len(outside))
	c.outside = (**C.char)(C.calloc(max(1, c.outside_count), C.size_t(unsafe.Sizeof(uintptr(0)))))
	texts := unsafe.Slice(c.outside, len(outside))
	for i := range texts {
		texts[i] = C.CString(outside[i])
	}
	return c
}

func stepInC(f *fabric.Fabric, s *deadlock.LoopStep) C.weft_step {
	ch := f.Channel(s.Trunk)
	return C.weft_step{
		from: C.CString(f.Label(ch.From)), to: C.CString(f.Label(ch.To)),
		from_guid: C.uint64_t(f.Node(ch.From).GUID), to_guid: C.uint64_t(f.Node(ch.To).GUID),
		from_port: C.int(ch.FromPort), to_port: C.int(ch.ToPort), vl: C.int(s.VL), sl: C.int(s.SL),
		source: C.CString(f.EndpointLabel(s.Src)), destination: C.CString(f.EndpointLabel(f.Owner(s.Dst))), destination_lid: C.int(s.Dst),
		answer: yes(s.Answer),
	}
}

func yes(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

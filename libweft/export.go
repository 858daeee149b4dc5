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
	"errors"
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
	q, err := questionFrom(asked)
	var a *answer
	if err == nil {
		a, err = judged(q)
	}
	if failed != nil {
		*failed = nil
	}
	if err != nil {
		if failed != nil {
			*failed = C.CString(err.Error())
		}
		return nil
	}
	return verdictInC(a)
}

//export weft_text_free
func weft_text_free(text *C.char) { C.free(unsafe.Pointer(text)) }

// weft_verdict_free frees all that verdictInC allocated.
//
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

// questionFrom is a question that C asked, or what is wrong with it. A caller built with a later weft.h may have a longer
// struct: only the part that is known here is read. Its texts stay in the caller's memory.
func questionFrom(asked *C.const_question) (*question, error) {
	if asked == nil {
		return nil, errors.New("weft_judge: the question is NULL")
	}
	var c C.weft_question
	if asked.size < C.size_t(unsafe.Sizeof(c)) {
		return nil, errors.New("weft_judge: size of the question is not sizeof (weft_question)")
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
			return nil, errors.New("weft_judge: a text has more bytes than there are")
		}
		// The caller keeps it until the call is over, and nobody writes into it.
		part.to.text = unsafe.Slice((*byte)(part.from.text), int(part.from.bytes))
	}
	return q, nil
}

// goText is a copy of a text of C's; "" if it is NULL.
func goText(text *C.char) string {
	if text == nil {
		return ""
	}
	return C.GoString(text)
}

// verdictInC copies an answer into memory of C's, all of which weft_verdict_free frees.
func verdictInC(a *answer) *C.weft_verdict {
	v := a.verdict
	c := (*C.weft_verdict)(C.calloc(1, C.sizeof_weft_verdict))
	c.free, c.complete = boolInC(v.Free()), boolInC(v.Complete())
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
	c.outside = (**C.char)(C.calloc(max(1, c.outside_count), C.size_t(unsafe.Sizeof(uintptr(0))))) // never NULL, which calloc of nothing may be
	texts := unsafe.Slice(c.outside, len(outside))
	for i := range texts {
		texts[i] = C.CString(outside[i])
	}
	return c
}

// stepInC is a step of a loop with its texts in memory of C's.
func stepInC(f *fabric.Fabric, s *deadlock.LoopStep) C.weft_step {
	ch := f.Channel(s.Trunk)
	return C.weft_step{
		from: C.CString(f.Label(ch.From)), to: C.CString(f.Label(ch.To)),
		from_guid: C.uint64_t(f.Node(ch.From).GUID), to_guid: C.uint64_t(f.Node(ch.To).GUID),
		from_port: C.int(ch.FromPort), to_port: C.int(ch.ToPort), vl: C.int(s.VL), sl: C.int(s.SL),
		source: C.CString(f.EndpointLabel(s.Src)), destination: C.CString(f.EndpointLabel(f.Owner(s.Dst))), destination_lid: C.int(s.Dst),
		answer: boolInC(s.Answer),
	}
}

// boolInC is 1 or 0, as C has it.
func boolInC(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

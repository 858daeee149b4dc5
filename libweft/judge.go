package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/certificate"
	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// text is a weft_text.
type text struct {
	name string
	text []byte // nil: it is in the file
}

// question is a weft_question; weft.h says what its parts are.
type question struct {
	network, lfts, list, sl2vl, psl text
	contract, endpoints             string
}

// answer is a verdict with what it is about.
type answer struct {
	fabric      *fabric.Fabric
	verdict     *deadlock.Verdict
	certificate []byte // nil: there is none
}

// verify judges; a test puts a function that panics in its place.
var verify = deadlock.Verify

// judged is what judge returns. A panic becomes an error: on the side of C nobody could recover.
func judged(q *question) (a *answer, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			a, err = nil, fmt.Errorf("weft broke, which is a defect of weft: %v\n%s", broken, debug.Stack())
		}
	}()
	return q.judge()
}

// judge reads the tables that the question is about and judges them. If they are free of deadlock, it writes the
// certificate.
func (q *question) judge() (*answer, error) {
	o := deadlock.Options{Contract: routing.Honored}
	var err error
	if q.contract != "" {
		if o.Contract, err = routing.ParseContract(q.contract); err != nil {
			return nil, err
		}
	}
	if q.endpoints != "" {
		if o.Scope, err = routing.ParseScope(q.endpoints); err != nil {
			return nil, err
		}
	}
	t, err := q.tables()
	if err != nil {
		return nil, err
	}
	a := &answer{fabric: t.Fabric}
	if a.verdict, err = verify(context.Background(), t, o); err != nil {
		return nil, err
	}
	if a.verdict.Free() {
		var proof bytes.Buffer
		if err := certificate.Write(&proof, t.Fabric, a.verdict.Certificate); err != nil {
			return nil, err
		}
		a.certificate = proof.Bytes()
	}
	return a, nil
}

// tables reads the network and its tables, each from the memory of the caller or from a file.
func (q *question) tables() (*routing.Tables, error) {
	var opened []io.Closer
	defer func() {
		for _, r := range opened {
			r.Close()
		}
	}()
	open := func(t text) (files.Text, error) {
		switch {
		case t.text != nil:
			return files.Text{Name: t.name, Text: bytes.NewReader(t.text)}, nil
		case t.name == "":
			return files.Text{}, nil
		}
		r, err := reading.Open(context.Background(), t.name, nil)
		if err != nil {
			return files.Text{}, err
		}
		opened = append(opened, r)
		return files.Text{Name: t.name, Text: r}, nil
	}
	network, err := open(q.network)
	if err != nil {
		return nil, err
	}
	if network.Text == nil {
		return nil, errors.New("there is no network to judge the tables of")
	}
	f, err := files.Fabric(network.Text, network.Name)
	if err != nil {
		return nil, err
	}
	var texts files.Texts
	for _, part := range []struct {
		from text
		to   *files.Text
	}{{q.lfts, &texts.LFTs}, {q.list, &texts.List}, {q.sl2vl, &texts.SL2VL}, {q.psl, &texts.PSL}} {
		if *part.to, err = open(part.from); err != nil {
			return nil, err
		}
	}
	return files.Tables(f, texts)
}

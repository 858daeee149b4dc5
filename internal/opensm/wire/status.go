package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// MaxStatus bounds a status, in bytes.
const MaxStatus = 1 << 20

// MaxOrder bounds an order, in bytes.
const MaxOrder = 64 << 10

// Question is what the daemon is asked: a request, or an order, or if both are nil its status.
type Question struct {
	Request *Request
	Order   json.RawMessage
}

// ReadQuestion reads a question to the daemon.
func ReadQuestion(r io.Reader) (*Question, error) {
	k, body, err := readMessage(r, MaxRequest)
	switch {
	case err != nil:
		return nil, err
	case k == kindRequest:
		q, err := decodeRequest(body)
		return &Question{Request: q}, err
	case k == kindAsk && len(body) == 0:
		return &Question{}, nil
	case k == kindOrder && len(body) <= MaxOrder && json.Valid(body):
		return &Question{Order: body}, nil
	}
	return nil, fmt.Errorf("message of kind %d with %d bytes where a request is expected", k, len(body))
}

// WriteStatus answers a question for the status, or an order, with a value as JSON.
func WriteStatus(w io.Writer, status any) error {
	text, err := json.Marshal(status)
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	if len(text) > MaxStatus {
		return fmt.Errorf("a status of %d bytes; at most %d are sent", len(text), MaxStatus)
	}
	return send(w, append(newMessage(kindStatus, len(text)), text...))
}

// AskStatus asks the daemon at a socket for its status, a JSON document.
func AskStatus(ctx context.Context, socket string) (json.RawMessage, error) {
	c, hangUp, err := dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	return answered(c, newMessage(kindAsk, 0))
}

// GiveOrder gives the daemon at a socket an order, a value as JSON, and returns its answer, a JSON document.
func GiveOrder(ctx context.Context, socket string, order any) (json.RawMessage, error) {
	text, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("order: %w", err)
	}
	if len(text) > MaxOrder {
		return nil, fmt.Errorf("an order of %d bytes; at most %d are sent", len(text), MaxOrder)
	}
	c, hangUp, err := dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	return answered(c, append(newMessage(kindOrder, len(text)), text...))
}

// answered sends a message, and returns the JSON document that is the answer.
func answered(c io.ReadWriter, m []byte) (json.RawMessage, error) {
	if err := send(c, m); err != nil {
		return nil, err
	}
	k, body, err := readMessage(c, MaxStatus)
	if err != nil {
		return nil, err
	}
	if k != kindStatus || !json.Valid(body) {
		return nil, fmt.Errorf("message of kind %d where a status is expected", k)
	}
	return body, nil
}

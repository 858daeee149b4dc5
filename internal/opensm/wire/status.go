package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxStatus bounds a status, in bytes.
const MaxStatus = 1 << 20

// ErrAsk is what ReadQuestion returns if the other end asks for the daemon's status
// instead of tables.
var ErrAsk = errors.New("wire: a question for the status")

// ReadQuestion reads a question to the daemon: a request, as ReadRequest does, or a
// question for the status, for which the error is ErrAsk.
func ReadQuestion(r io.Reader) (*Request, error) {
	k, body, err := readMessage(r, MaxRequest)
	switch {
	case err != nil:
		return nil, err
	case k == kindRequest:
		return decodeRequest(body)
	case k == kindAsk && len(body) == 0:
		return nil, ErrAsk
	}
	return nil, fmt.Errorf("wire: message of kind %d with %d bytes where a request is expected", k, len(body))
}

// WriteStatus answers ErrAsk with a value as JSON.
func WriteStatus(w io.Writer, status any) error {
	text, err := json.Marshal(status)
	if err != nil {
		return fmt.Errorf("wire: status: %w", err)
	}
	if len(text) > MaxStatus {
		return fmt.Errorf("wire: a status of %d bytes; at most %d are sent", len(text), MaxStatus)
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
	if err := send(c, newMessage(kindAsk, 0)); err != nil {
		return nil, err
	}
	k, body, err := readMessage(c, MaxStatus)
	if err != nil {
		return nil, err
	}
	if k != kindStatus || !json.Valid(body) {
		return nil, fmt.Errorf("wire: message of kind %d where a status is expected", k)
	}
	return body, nil
}

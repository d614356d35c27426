package session

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/muster-project/muster/cloud"
)

// Poller is implemented by the pollers that a client's Begin methods return.
type Poller interface {
	Done() bool
	ResumeToken() (string, error)
}

// Hint returns the token by which an operation that was begun can be read again, also by another process; not ok when it has ended
// already, or has none. It is worth a request for the text of a failure, and nothing else. Of the SDK's token it keeps the one address that
// Poll uses: Azure signs addresses, which makes each more than 3,000 characters long, and the token is kept in the status of an object.
func Hint(p Poller) (token string, ok bool) {
	if p == nil || p.Done() {
		return "", false
	}
	token, err := p.ResumeToken()
	if at := addressOf(token); err == nil && at != "" {
		token = tokenOf(at)
	}
	return token, err == nil && token != ""
}

// tokenOf returns the token of an operation with an address, in the form in which the SDK keeps it.
func tokenOf(at string) string {
	token, err := json.Marshal(map[string]any{"token": map[string]string{"asyncURL": at}})
	if err != nil {
		return ""
	}
	return string(token)
}

// Outcome is the state of an operation at one poll.
type Outcome struct {
	// Done is true if the operation has ended, or no longer exists.
	Done bool
	// Failed is the operation's error; nil if it succeeded or still runs.
	Failed *cloud.Error
}

// Poll reads the operation of a hint once and does not wait. Any client that can write the object that stores the token may have changed
// it: it leads to Azure Resource Manager or nowhere.
func (s *Session) Poll(ctx context.Context, token string, now time.Time) (Outcome, error) {
	at := addressOf(token)
	if at == "" {
		return Outcome{Done: true}, nil
	}
	req, err := runtime.NewRequest(ctx, http.MethodGet, at)
	if err != nil {
		// Not an address: the operation is unknown.
		return Outcome{Done: true}, nil
	}
	reply, err := s.arm.Pipeline().Do(req)
	if err != nil {
		return Outcome{}, Refusal(err, now)
	}
	// The SDK has read it already.
	defer func() { _ = reply.Body.Close() }()
	if !runtime.HasStatusCode(reply, http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent) {
		err := Refusal(runtime.NewResponseError(reply), now)
		if Absent(err) || reply.StatusCode == http.StatusGone {
			return Outcome{Done: true}, nil
		}
		return Outcome{}, err
	}
	return s.outcome(reply)
}

// outcome decodes the state of an operation.
func (s *Session) outcome(reply *http.Response) (Outcome, error) {
	body, err := runtime.Payload(reply)
	if err != nil {
		return Outcome{}, &cloud.Error{Kind: cloud.Unavailable, Code: cloud.CodeNoReply, Message: "the reply on an operation can't be read"}
	}
	var is struct {
		Status     string `json:"status"`
		Properties struct {
			State string `json:"provisioningState"`
		} `json:"properties"`
	}
	// A body that is no object has no state: the status of the reply is all there is.
	_ = json.Unmarshal(body, &is)
	state := is.Status
	if state == "" {
		state = is.Properties.State
	}
	switch strings.ToLower(state) {
	case "":
		return Outcome{Done: reply.StatusCode != http.StatusAccepted}, nil
	case "succeeded", "completed":
		return Outcome{Done: true}, nil
	case "failed", "canceled", "cancelled":
		refused := &cloud.Error{Kind: cloud.Unavailable}
		failure := readReply(body)
		if failure.Code == "" {
			failure.Code = state
		}
		failure.classify(refused, 0)
		return Outcome{Done: true, Failed: withIdentity(refused, s.identity)}, nil
	default:
		return Outcome{}, nil
	}
}

// addressOf returns the address of the operation in the SDK's token.
func addressOf(token string) string {
	var wrapped struct {
		Token struct {
			Async    string `json:"asyncURL"`
			Location string `json:"locURL"`
			Poll     string `json:"pollURL"`
		} `json:"token"`
	}
	if json.Unmarshal([]byte(token), &wrapped) != nil {
		return ""
	}
	for _, at := range []string{wrapped.Token.Async, wrapped.Token.Poll, wrapped.Token.Location} {
		if at != "" {
			return at
		}
	}
	return ""
}

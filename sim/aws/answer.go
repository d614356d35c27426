package aws

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
)

func (x *exchange) requestID() string { return x.server.seed.UUID("request", x.seq) }

// write sends a success in the service's protocol.
func (x *exchange) write(w http.ResponseWriter, out any) {
	var body []byte
	var err error
	kind := "text/xml;charset=UTF-8"
	if x.service == serviceSSM {
		kind = "application/x-amz-json-1.1"
		body, err = json.Marshal(out)
	} else {
		body, err = x.xml(out)
	}
	if err != nil {
		x.writeError(w, toAPI(x.service, fmt.Errorf("encode the answer: %w", err)))
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Amzn-Requestid", x.requestID())
	_, _ = w.Write(body) // the client went away
}

// xml wraps a shape as the query protocols do: EC2 flat with its own request ID, the others in a result.
func (x *exchange) xml(out any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	root := x.action + "Response"
	if x.service == serviceEC2 {
		inner, err := marshal("x", out)
		if err != nil {
			return nil, err
		}
		inner = strings.TrimSuffix(strings.TrimPrefix(inner, "<x>"), "</x>")
		fmt.Fprintf(&b, `<%s xmlns=%q><requestId>%s</requestId>%s</%s>`, root, xmlNamespaces[x.service], x.requestID(), inner, root)
		return b.Bytes(), nil
	}
	result, err := marshal(x.action+"Result", out)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, `<%s xmlns=%q>%s<ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata></%s>`,
		root, xmlNamespaces[x.service], result, x.requestID(), root)
	return b.Bytes(), nil
}

func marshal(name string, v any) (string, error) {
	var b bytes.Buffer
	e := xml.NewEncoder(&b)
	err := e.EncodeElement(v, xml.StartElement{Name: xml.Name{Local: name}})
	return b.String(), err
}

// writeError sends a refusal in the service's protocol.
func (x *exchange) writeError(w http.ResponseWriter, e *apiError) {
	var message bytes.Buffer
	_ = xml.EscapeText(&message, []byte(e.Message)) // a buffer takes everything
	kind, sender := "text/xml;charset=UTF-8", "Sender"
	if e.Status >= http.StatusInternalServerError {
		sender = "Receiver"
	}
	var body string
	switch x.service {
	case serviceSSM:
		kind = "application/x-amz-json-1.1"
		b, _ := json.Marshal(map[string]string{"__type": e.Code, "message": e.Message}) // strings always encode
		body = string(b)
	case serviceEC2:
		body = fmt.Sprintf(`%s<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>%s</RequestID></Response>`,
			xml.Header, e.Code, message.String(), x.requestID())
	default:
		body = fmt.Sprintf(`<ErrorResponse xmlns=%q><Error><Type>%s</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`,
			xmlNamespaces[x.service], sender, e.Code, message.String(), x.requestID())
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Amzn-Requestid", x.requestID())
	w.WriteHeader(e.Status)
	_, _ = io.WriteString(w, body) // the client went away
}

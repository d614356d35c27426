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
	body, err := protocolOf(x.service).encode(x, out)
	if err != nil {
		x.writeError(w, toAPI(x.service, fmt.Errorf("encode the answer: %w", err)))
		return
	}
	w.Header().Set("Content-Type", protocolOf(x.service).kind)
	w.Header().Set("X-Amzn-Requestid", x.requestID())
	if a, ok := out.(objectAnswer); ok {
		a.headers(w.Header())
	}
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
	p := protocolOf(x.service)
	w.Header().Set("Content-Type", p.kind)
	w.Header().Set("X-Amzn-Requestid", x.requestID())
	body := p.refuse(x, w.Header(), e)
	w.WriteHeader(e.Status)
	_, _ = io.WriteString(w, body) // the client went away
}

// jsonError is a refusal in the protocol of SSM.
func jsonError(_ *exchange, _ http.Header, e *apiError) string {
	b, _ := json.Marshal(map[string]string{"__type": e.Code, "message": e.Message}) // strings always encode
	return string(b)
}

// ec2Error is a refusal in EC2's form of the query protocol.
func ec2Error(x *exchange, _ http.Header, e *apiError) string {
	return fmt.Sprintf(`%s<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>%s</RequestID></Response>`,
		xml.Header, e.Code, escaped(e.Message), x.requestID())
}

// queryErrorBody is a refusal in the query protocol of the others.
func queryErrorBody(x *exchange, _ http.Header, e *apiError) string {
	sender := "Sender"
	if e.Status >= http.StatusInternalServerError {
		sender = "Receiver"
	}
	return fmt.Sprintf(`<ErrorResponse xmlns=%q><Error><Type>%s</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`,
		xmlNamespaces[x.service], sender, e.Code, escaped(e.Message), x.requestID())
}

// restError is a refusal in the protocol of EKS: the code in a header, what it is about beside the message.
func restError(x *exchange, h http.Header, e *apiError) string {
	h.Set("X-Amzn-Errortype", e.Code)
	body := map[string]string{"message": e.Message}
	for _, name := range []string{"clusterName", "nodegroupName"} {
		if v := x.params.Get(name); v != "" {
			body[name] = v
		}
	}
	b, _ := json.Marshal(body) // strings always encode
	return string(b)
}

// escaped is a text as it stands in XML.
func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

package wire

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Write sends a success in the service's protocol.
func (x *Call) Write(w http.ResponseWriter, out any) {
	body, err := ProtocolOf(x.Service).encode(x, out)
	if err != nil {
		x.WriteError(w, ToAPI(x.Service, fmt.Errorf("encode the answer: %w", err)))
		return
	}
	w.Header().Set("Content-Type", ProtocolOf(x.Service).Kind)
	w.Header().Set("X-Amzn-Requestid", x.RequestID)
	if a, ok := out.(rawAnswer); ok {
		a.Headers(w.Header())
	}
	_, _ = w.Write(body) // the client went away
}

// xml wraps a shape as the query protocols do: EC2 flat with its own request ID, the others in a result.
func (x *Call) xml(out any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	root := x.Action + "Response"
	if x.Service == ServiceEC2 {
		inner, err := marshal("x", out)
		if err != nil {
			return nil, err
		}
		inner = strings.TrimSuffix(strings.TrimPrefix(inner, "<x>"), "</x>")
		fmt.Fprintf(&b, `<%s xmlns=%q><requestId>%s</requestId>%s</%s>`, root, xmlNamespaces[x.Service], x.RequestID, inner, root)
		return b.Bytes(), nil
	}
	result, err := marshal(x.Action+"Result", out)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, `<%s xmlns=%q>%s<ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata></%s>`,
		root, xmlNamespaces[x.Service], result, x.RequestID, root)
	return b.Bytes(), nil
}

func marshal(name string, v any) (string, error) {
	var b bytes.Buffer
	e := xml.NewEncoder(&b)
	err := e.EncodeElement(v, xml.StartElement{Name: xml.Name{Local: name}})
	return b.String(), err
}

// WriteError sends a refusal in the service's protocol.
func (x *Call) WriteError(w http.ResponseWriter, e *APIError) {
	p := ProtocolOf(x.Service)
	w.Header().Set("Content-Type", p.Kind)
	w.Header().Set("X-Amzn-Requestid", x.RequestID)
	body := p.refuse(x, w.Header(), e)
	w.WriteHeader(e.Status)
	_, _ = io.WriteString(w, body) // the client went away
}

// jsonError is a refusal in the protocol of SSM.
func jsonError(_ *Call, _ http.Header, e *APIError) string {
	b, _ := json.Marshal(map[string]string{"__type": e.Code, "message": e.Message}) // strings always encode
	return string(b)
}

// ec2Error is a refusal in EC2's form of the query protocol.
func ec2Error(x *Call, _ http.Header, e *APIError) string {
	return fmt.Sprintf(`%s<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>%s</RequestID></Response>`,
		xml.Header, e.Code, escaped(e.Message), x.RequestID)
}

// queryErrorBody is a refusal in the query protocol of the others.
func queryErrorBody(x *Call, _ http.Header, e *APIError) string {
	sender := "Sender"
	if e.Status >= http.StatusInternalServerError {
		sender = "Receiver"
	}
	return fmt.Sprintf(`<ErrorResponse xmlns=%q><Error><Type>%s</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`,
		xmlNamespaces[x.Service], sender, e.Code, escaped(e.Message), x.RequestID)
}

// restError is a refusal in the protocol of EKS: the code in a header, what it is about beside the message.
func restError(x *Call, h http.Header, e *APIError) string {
	h.Set("X-Amzn-Errortype", e.Code)
	body := map[string]string{"message": e.Message}
	for _, name := range []string{"clusterName", "nodegroupName"} {
		if v := x.Params.Get(name); v != "" {
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

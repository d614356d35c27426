package session

import (
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

const (
	// serviceLogin is the service under which requests for tokens are counted.
	serviceLogin = "login"
	operationGet = "Operations.Get"
)

// sender hands the requests of one session to the transport, each with its name.
type sender struct {
	to *wire.Transport
	// host of Azure Resource Manager: a token for it goes nowhere else. It is empty for requests that ask for a token.
	host string
	// call has the account and the region of all requests.
	call wire.Call
}

// Do sends one request. Addresses come out of replies and out of what objects remember of an operation too: one that leads elsewhere
// gets no token.
func (s *sender) Do(req *http.Request) (*http.Response, error) {
	if s.host != "" && !within(req.URL.Host, s.host) {
		return nil, &refusal.Astray{Host: req.URL.Host, Not: "not Azure Resource Manager"}
	}
	named := req.WithContext(wire.WithCall(req.Context(), s.named(req)))
	reply, err := s.to.RoundTrip(named)
	if err != nil {
		return nil, err
	}
	// The reader of the reply is to know which call it answers, whatever the transport below has put there.
	reply.Request = named
	return reply, nil
}

// named is a request's call.
func (s *sender) named(req *http.Request) wire.Call {
	call := s.call
	call.Service, call.Operation, call.Resource = s.name(req)
	call.ReadOnly = isRead(call.Operation)
	return call
}

// name is a request's service, operation and resource: "compute", "VirtualMachineScaleSets.Get", and the scale set's path. A request
// that the SDK names not is one for a token, or a look at an operation.
func (s *sender) name(req *http.Request) (service, operation, resource string) {
	if s.host == "" {
		return serviceLogin, "GetToken", ""
	}
	path := strings.ToLower(req.URL.Path)
	api, _ := req.Context().Value(runtime.CtxAPINameKey{}).(string)
	service, rest := provider(path)
	if api == "" {
		return service, operationGet, path
	}
	return service, operationName(api), thing(path, rest)
}

// provider is the short name of the last resource provider in a path, and what follows it.
func provider(path string) (name, rest string) {
	const mark = "/providers/microsoft."
	at := strings.LastIndex(path, mark)
	if at < 0 {
		return "resources", ""
	}
	name, rest, _ = strings.Cut(path[at+len(mark):], "/")
	return name, rest
}

// operationName is an operation without what the SDK adds to its name: VirtualMachineScaleSetVMsClient.NewListPager is
// VirtualMachineScaleSetVMs.List, and VirtualMachineScaleSetsClient.BeginUpdate is VirtualMachineScaleSets.Update.
func operationName(api string) string {
	client, operation, _ := strings.Cut(api, ".")
	if pager, ok := strings.CutSuffix(operation, "Pager"); ok {
		operation = strings.TrimPrefix(pager, "New")
	}
	return strings.TrimSuffix(client, "Client") + "." + strings.TrimPrefix(operation, "Begin")
}

// thing is the path of the one resource that a request is about; empty for a request about many. What follows the provider is a type
// and a name, and for an instance of a scale set or an agent pool those of the instance or the agent pool too.
func thing(path, rest string) string {
	parts := strings.Split(rest, "/")
	named := 2
	if len(parts) >= 4 && (parts[2] == "virtualmachines" || parts[2] == "agentpools") {
		named = 4
	}
	if len(parts) < named {
		return ""
	}
	return strings.TrimSuffix(path, "/"+strings.Join(parts[named:], "/"))
}

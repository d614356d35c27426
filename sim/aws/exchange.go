package aws

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
)

// bodyLimit bounds a request. The largest that AWS takes here is a launch template with 16 KiB of user data.
const bodyLimit = 1 << 20

// exchange is one request and its answer.
type exchange struct {
	*wire.Call
	core.Trace
	server   *Server
	identity wire.Identity
	account  string
	// operation is the requested operation, once it is known.
	operation account.Operation[request]
	// expired is true if the keys that signed were temporary and their time is over.
	expired bool
}

// ServeHTTP answers a request of an AWS client, or of the simulator's owner below sim.AdminPath.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := core.Receive(s.Base, w, r)
	if !ok {
		return
	}
	x := &exchange{server: s, Trace: core.Begin(s.Base)}
	x.Call = &wire.Call{
		Request: r, RequestID: s.Environment.Seed.UUID("request", x.Seq), Body: body,
		BucketOf: func(host string) string { return s.accounts.bucketOf(x.account, host) },
	}
	out, drop, err := x.answer()
	code := ""
	switch {
	case drop:
		sim.Drop(w)
		code = "ConnectionDropped"
	case err != nil:
		e := wire.ToAPI(x.Service, err)
		code = e.Code
		x.WriteError(w, e)
	default:
		x.Write(w, out)
	}
	x.Log(code)
}

// answer does what was asked, with the faults in force. drop is set when the client shall see no answer.
func (x *exchange) answer() (out any, drop bool, err error) {
	op, err := x.read()
	x.Asked.Service, x.Asked.Action = x.Service, x.Action
	if err != nil {
		return nil, false, err
	}
	x.operation = op
	x.Asked.Resource, x.Asked.Mutating = x.subject(), op.Mutating
	return core.Answer(x.Request.Context(), x.server.Cloud, &x.Trace, x, core.Operation[*region, any]{
		World: inRegion(x.account, x.identity.Region), Fields: x.fields(), Admit: x.admit,
		Run: func(r *region) (any, error) { return op.Run(request{r, x}, x.Call) },
	})
}

// read finds out who asks for what. It checks the signature first, as AWS does.
func (x *exchange) read() (op account.Operation[request], err error) {
	claimed, _ := wire.ParseSignature(x.Request)
	x.Service = claimed.Service
	x.Params, x.Action = url.Values{}, "?"
	if x.Service == "" {
		x.Service = x.guessService()
	}
	identity, err := wire.VerifySignature(x.Request, x.Body, x.Began, x.secret)
	if x.expired {
		return op, wire.TokenExpired(x.Service)
	}
	if err != nil {
		return op, err
	}
	x.identity = identity
	if _, ok := account.Regions[identity.Region]; !ok {
		return op, wire.Refuse("SignatureDoesNotMatch", "Credential should be scoped to a valid region.")
	}
	if operations[x.Service] == nil {
		return op, wire.Refuse("InvalidAction", "The service %s is not simulated.", x.Service)
	}
	if err := wire.ProtocolOf(x.Service).Read(x.Call); err != nil {
		return op, err
	}
	op, ok := operations[x.Service][x.Action]
	if !ok {
		return op, wire.UnknownAction(x.Service, x.Action, x.Params.Get("Version"))
	}
	return op, wire.Missing(x.Call)
}

// guessService names the service of a request without a signature by its form, so that it is refused in the right words.
func (x *exchange) guessService() string {
	if strings.HasPrefix(x.Request.Header.Get("X-Amz-Target"), "AmazonSSM") {
		return wire.ServiceSSM
	}
	if x.ReadRoute(wire.ServiceEKS) {
		return wire.ServiceEKS
	}
	// What cannot be read has no version and is refused in EC2's words.
	form, _ := url.ParseQuery(string(x.Body))
	for service, version := range wire.APIVersions {
		if form.Get("Version") == version {
			return service
		}
	}
	return wire.ServiceEC2
}

// secret finds the secret of the key that signed, be it an account's or a session's.
func (x *exchange) secret(i wire.Identity) (string, bool) {
	if a, ok := x.server.accountBy(i.AccessKeyID); ok && i.SessionToken == "" {
		x.account = a.ID
		return a.SecretAccessKey, true
	}
	if s, ok := x.server.session(i.AccessKeyID); ok && s.token == i.SessionToken {
		x.account, x.expired = s.account, !x.Began.Before(s.expires)
		return s.secret, true
	}
	return "", false
}

// subjects are the parameters that name what a request is about, the most telling first.
var subjects = []string{
	"AutoScalingGroupName", "LaunchTemplateName", "LaunchTemplateId", "InstanceId", "InstanceId.1", "InstanceIds.member.1",
	"AutoScalingGroupNames.member.1", "LaunchTemplateName.1", "LaunchTemplateId.1", "Tags.member.1.ResourceId", "ResourceId.1",
	"nodegroupName", "clusterName", "name", "resourceArn", "RoleName", "InstanceProfileName", "PolicyArn", "PolicyName", "RoleArn", "Key",
}

func (x *exchange) subject() string {
	for _, name := range subjects {
		if v := x.Params.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// admit checks that the caller may do what is asked. With DryRun that is all: the answer is an error either way.
func (x *exchange) admit(r *region) error {
	if err := x.authorize(r); err != nil {
		return err
	}
	if x.Params.Get("DryRun") == "true" {
		return x.rehearse(r)
	}
	return nil
}

// rehearse runs the operation on a copy: with DryRun a success is told as an error.
func (x *exchange) rehearse(r *region) error {
	trial, err := x.server.AsOf(inRegion(r.Account, r.Region), r.Now, 0)
	if err != nil {
		return err
	}
	trial.Enter(r.Now, 0)
	if _, err := x.operation.Run(request{trial, x}, x.Call); err != nil {
		return err
	}
	return &wire.APIError{Code: "DryRunOperation", Message: "Request would have succeeded, but DryRun flag is set.",
		Status: http.StatusPreconditionFailed}
}

// Failed is a fault's error, by default the service's own for an internal failure.
func (x *exchange) Failed(f sim.Fault) error {
	e := wire.ToAPI(x.Service, errors.New("played"))
	e.Code, e.Message, e.Status = core.Worded(f, e.Code, e.Message, e.Status)
	return e
}

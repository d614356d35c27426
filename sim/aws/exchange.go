package aws

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/sigv4"
)

// The services, as the scope of a signature names them.
const (
	serviceEC2         = "ec2"
	serviceAutoScaling = "autoscaling"
	serviceSSM         = "ssm"
	serviceSTS         = "sts"
	serviceIAM         = "iam"
	serviceEKS         = "eks"
)

// versions and namespaces are what the query protocols are published under.
var (
	apiVersions   = map[string]string{serviceEC2: "2016-11-15", serviceAutoScaling: "2011-01-01", serviceSTS: "2011-06-15", serviceIAM: "2010-05-08"}
	xmlNamespaces = map[string]string{
		serviceEC2:         "http://ec2.amazonaws.com/doc/2016-11-15/",
		serviceAutoScaling: "http://autoscaling.amazonaws.com/doc/2011-01-01/",
		serviceSTS:         "https://sts.amazonaws.com/doc/2011-06-15/",
		serviceIAM:         "https://iam.amazonaws.com/doc/2010-05-08/",
	}
)

// bodyLimit bounds a request. The largest that AWS takes here is a launch template with 16 KiB of user data.
const bodyLimit = 1 << 20

// exchange is one request and its answer.
type exchange struct {
	server   *Server
	request  *http.Request
	body     []byte
	began    time.Time
	seq      int64
	identity sigv4.Identity
	account  string
	service  string
	action   string
	params   url.Values
	resource string
	mutating bool
	fault    string
	// expired says that the keys that signed were temporary and that their time is over.
	expired bool
}

// ServeHTTP answers a request of an AWS client, or of the simulator's owner below sim.AdminPath.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, sim.AdminPath) {
		s.admin.ServeHTTP(w, r)
		return
	}
	x := &exchange{server: s, request: r, began: time.Now(), seq: s.calls.Next()}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		http.Error(w, "request too large or broken", http.StatusRequestEntityTooLarge)
		return
	}
	x.body = body
	out, drop, err := x.answer()
	code := ""
	switch {
	case drop:
		sim.Drop(w)
		code = "ConnectionDropped"
	case err != nil:
		e := toAPI(x.service, err)
		code = e.Code
		x.writeError(w, e)
	default:
		x.write(w, out)
	}
	s.calls.Add(sim.Call{
		Seq: x.seq, Service: x.service, Action: x.action, Resource: x.resource, Mutating: x.mutating, Code: code, Fault: x.fault,
		At: x.began, Took: time.Since(x.began),
	})
}

// answer does what was asked, with the faults in force. drop is set when the client shall see no answer.
func (x *exchange) answer() (out any, drop bool, err error) {
	op, err := x.read()
	if err != nil {
		return nil, false, err
	}
	faults := x.server.faults.ForRequest(sim.Request{Service: x.service, Action: x.action, Resource: x.resource, Mutating: x.mutating, Has: x.says})
	if drop, err := x.before(faults); drop || err != nil {
		return nil, drop, err
	}
	if err := x.throttle(op); err != nil {
		return nil, false, err
	}
	out, err = x.perform(op, faults)
	return x.after(faults, out, err)
}

// read finds out who asks for what. It checks the signature first, as AWS does.
func (x *exchange) read() (operation, error) {
	claimed, _ := sigv4.Parse(x.request)
	x.service = claimed.Service
	x.params, x.action = url.Values{}, "?"
	if x.service == "" {
		x.service = x.guessService()
	}
	identity, err := sigv4.Verify(x.request, x.body, x.began, x.secret)
	if x.expired {
		return operation{}, tokenExpired(x.service)
	}
	if err != nil {
		return operation{}, err
	}
	x.identity = identity
	if _, ok := regions[identity.Region]; !ok {
		return operation{}, refuse("SignatureDoesNotMatch", "Credential should be scoped to a valid region.")
	}
	if operations[x.service] == nil {
		return operation{}, refuse("InvalidAction", "The service %s is not simulated.", x.service)
	}
	if err := protocolOf(x.service).read(x); err != nil {
		return operation{}, err
	}
	op, ok := operations[x.service][x.action]
	if !ok {
		return operation{}, unknownAction(x.service, x.action, x.params.Get("Version"))
	}
	x.mutating = op.mutating
	x.resource = x.subject()
	return op, nil
}

// guessService names the service of a request without a signature by its form, so that it is refused in the right words.
func (x *exchange) guessService() string {
	if strings.HasPrefix(x.request.Header.Get("X-Amz-Target"), "AmazonSSM") {
		return serviceSSM
	}
	if x.readRoute(serviceEKS) {
		return serviceEKS
	}
	// What cannot be read has no version and is refused in EC2's words.
	form, _ := url.ParseQuery(string(x.body))
	for service, version := range apiVersions {
		if form.Get("Version") == version {
			return service
		}
	}
	return serviceEC2
}

// secret finds the secret of the key that signed, be it an account's or a session's.
func (x *exchange) secret(i sigv4.Identity) (string, bool) {
	if a, ok := x.server.accountBy(i.AccessKeyID); ok && i.SessionToken == "" {
		x.account = a.ID
		return a.SecretAccessKey, true
	}
	if s, ok := x.server.session(i.AccessKeyID); ok && s.token == i.SessionToken {
		x.account, x.expired = s.account, !x.began.Before(s.expires)
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
		if v := x.params.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// perform runs the operation on what the account has, or had where a fault makes the read a stale one.
func (x *exchange) perform(op operation, faults []sim.Fault) (any, error) {
	s := x.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, &apiError{Code: "ServiceUnavailable", Message: "The service is shutting down.", Status: http.StatusServiceUnavailable}
	}
	r, err := s.realm(x.account, x.identity.Region)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if err := s.settle(now, false); err != nil {
		return nil, err
	}
	r.now = now
	if err := x.authorize(r); err != nil {
		return nil, err
	}
	if x.params.Get("DryRun") == "true" {
		return nil, x.rehearse(op, r)
	}
	if !op.mutating {
		if f, ok := among(faults, sim.Stale); ok {
			if r, err = s.asOf(r, now.Add(-time.Duration(f.Delay)), f.Writes); err != nil {
				return nil, err
			}
		}
		f, _ := among(faults, sim.PageLimit)
		r.pageLimit = f.Limit
		return op.run(r, x)
	}
	r.changed = true
	out, err := x.carryOut(op, r, faults)
	if err := s.settle(now, true); err != nil {
		return nil, err
	}
	return out, err
}

// among finds the fault of a kind; without one it is the zero Fault.
func among(faults []sim.Fault, kind sim.FaultKind) (sim.Fault, bool) {
	at := slices.IndexFunc(faults, func(f sim.Fault) bool { return f.Kind == kind })
	if at < 0 {
		return sim.Fault{}, false
	}
	return faults[at], true
}

// rehearse runs the operation on a copy: with DryRun a success is told as an error.
func (x *exchange) rehearse(op operation, r *realm) error {
	trial, err := x.server.asOf(r, r.now, 0)
	if err != nil {
		return err
	}
	if _, err := op.run(trial, x); err != nil {
		return err
	}
	return &apiError{Code: "DryRunOperation", Message: "Request would have succeeded, but DryRun flag is set.", Status: http.StatusPreconditionFailed}
}

// before plays the faults that come before the effect. drop is set when the client shall see no answer.
func (x *exchange) before(faults []sim.Fault) (drop bool, err error) {
	for _, f := range faults {
		x.note(f)
		switch f.Kind {
		case sim.Throttle:
			return false, x.throttled()
		case sim.ErrorBefore:
			return false, x.played(f)
		case sim.DropBefore:
			return true, nil
		case sim.Delay:
			if !x.wait(time.Duration(f.Delay)) {
				return true, nil
			}
		}
	}
	return false, nil
}

// after plays the faults that come after the effect.
func (x *exchange) after(faults []sim.Fault, out any, err error) (any, bool, error) {
	for _, f := range faults {
		switch f.Kind {
		case sim.ErrorAfter:
			return nil, false, x.played(f)
		case sim.DropAfter:
			return nil, true, nil
		}
	}
	return out, false, err
}

func (x *exchange) note(f sim.Fault) {
	name := f.Name
	if name == "" {
		name = string(f.Kind)
	}
	if x.fault != "" {
		name = x.fault + "," + name
	}
	x.fault = name
}

// played is a fault's error, by default the service's own for an internal failure.
func (x *exchange) played(f sim.Fault) *apiError {
	e := toAPI(x.service, errors.New("played"))
	if f.Code != "" {
		e = refuse(f.Code, "%s", f.Message)
	}
	if f.Message != "" {
		e.Message = f.Message
	}
	if f.Status != 0 {
		e.Status = f.Status
	}
	return e
}

// wait lets time pass and reports whether the client is still there.
func (x *exchange) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.request.Context().Done():
		return false
	}
}

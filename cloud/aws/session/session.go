package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go/middleware"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

// Options of the Sessions. The zero Options are right for production.
type Options struct {
	// Config gives the SDK's configuration for a region; an empty region means the one of the SDK's settings. Default:
	// the SDK's own chain of credentials, regions and endpoints (AWS_ENDPOINT_URL among them).
	Config func(ctx context.Context, region string) (awssdk.Config, error)
	// Base sends the requests instead of the SDK's HTTP client, for tests and recordings.
	Base http.RoundTripper
	// Hook observes every request.
	Hook wire.Hook
	// Around observes the start of every request as well.
	Around wire.Around
	// Account tells apart the rate budgets of several drivers in one process, and labels metrics. Default: "default".
	Account string
	// Timeout of one request. Default: wire.DefaultTimeout.
	Timeout time.Duration
	// AtOnce is the number of concurrent calls of one step, each about one instance. Default: DefaultAtOnce.
	AtOnce int
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// BootstrapFormatIgnition is the gate for machines that boot with Ignition.
	BootstrapFormatIgnition bool
}

const (
	// SlowPeriod is the maximum age of reads that are not shared, of objects that as a rule only Muster writes.
	SlowPeriod = 10 * time.Minute
	// DetailPeriod is that time for a detail of a group whose configuration has not changed since, and that another client may change
	// without a trace in the group: lifecycle hooks.
	DetailPeriod = time.Hour
	// TracedPeriod is that time for a detail whose change shows in what is read for all pools together: an instance refresh in the group's
	// instances, a version in its template or in launches that fail, an update in the node group.
	TracedPeriod = 6 * time.Hour
	// TemplatePeriod is the maximum age of a launch template that was read for all pools together: with the time between two looks at a pool
	// at rest, one that another client deletes is noticed within two minutes.
	TemplatePeriod = 20 * time.Second
	// TemplateEventPeriod is that time for a pass that an event triggered: the looks at rest read the template more often than that, so that a
	// change of size does not wait for one more read.
	TemplateEventPeriod = 2 * time.Minute
	// TemplateGoingPeriod is that time for the template of a pool that is being deleted: Muster alone changes it then.
	TemplateGoingPeriod = time.Minute
)

// RefusedPeriod is the time for which a denied read is not tried again: passes that follow one another closely send it once.
const RefusedPeriod = 10 * time.Second

// Session are the services of one region, over one transport, and what was asked of them for all pools. The clients do not
// try again by themselves; everything that they refuse goes through Refusal.
type Session struct {
	// Region that the clients speak to.
	Region string
	// Key tells sessions apart: by region, and by who asks. What was observed through one says nothing about another.
	Key         string
	AutoScaling *autoscaling.Client
	EC2         *EC2
	EKS         *EKS
	IAM         *IAM
	S3          *s3.Client
	SSM         *SSM

	// BootstrapFormatIgnition is the gate for machines that boot with Ignition.
	BootstrapFormatIgnition bool

	atOnce  int
	lookups cache.Lookups
	notices notices
	groups  *sweep.Sweep[*asgtypes.AutoScalingGroup]
	tagged  *sweep.Sweep[[]*asgtypes.AutoScalingGroup]
	// templates are the launch templates of the region.
	templates *sweep.Sweep[*ec2types.LaunchTemplate]
	instances *sweep.Sweep[ec2types.Instance]
	roles     *sweep.Sweep[*iamtypes.Role]
	// nodegroups are the names of the node groups of each EKS cluster.
	nodegroups *sweep.Sweep[[]string]
}

// Sessions makes the session of each region and identity once. It is safe for concurrent use.
type Sessions struct {
	options Options
	mu      sync.Mutex
	// made are the sessions by region and the identity's name; one whose identity has changed since is replaced.
	made map[place]*Session
	// transports are shared by all who ask in one account and region, for its rate budgets are.
	transports map[place]*wire.Transport
}

// place is a region with the name of an identity or of an account.
type place struct{ region, name string }

// New makes Sessions. It sends nothing.
func New(o Options) (*Sessions, error) {
	if o.Timeout < 0 {
		return nil, errors.New("aws driver: the timeout of a request is negative: want a positive one, or zero for the default")
	}
	if o.Config == nil {
		o.Config = defaultConfig
	}
	if o.Account == "" {
		o.Account = "default"
	}
	if o.AtOnce == 0 {
		o.AtOnce = DefaultAtOnce
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sessions{options: o, made: map[place]*Session{}, transports: map[place]*wire.Transport{}}, nil
}

// Now is the clock's time.
func (s *Sessions) Now() time.Time { return s.options.Now() }

// regionNames match the names of regions. What does not match is no host name either, or a variable that was not expanded.
var regionNames = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Region returns where the groups of a cluster are. An empty name is that of the controller's settings.
func Region(cluster awsv1.ClusterView) driverkit.Place {
	return driverkit.Place{Object: "infrastructure cluster", Kind: "region", Field: "spec.region", Name: cluster.Region, Names: regionNames}
}

// Elsewhere reports whether a region is another than that of a cluster.
func Elsewhere(region string, cluster awsv1.ClusterView) bool {
	return region != "" && cluster.Region != "" && region != cluster.Region
}

// Of gives the session of a cluster's region and identity. An empty region means the one that the SDK's settings name; no
// identity is the controller with the credentials of these settings.
func (s *Sessions) Of(ctx context.Context, cluster awsv1.ClusterView) (*Session, error) {
	region, at := cluster.Region, place{region: cluster.Region}
	if cluster.Identity != nil {
		at.name = cluster.Identity.Name
	}
	key := region + "\n" + cluster.Identity.Fingerprint()
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.made[at]; ok && found.Key == key {
		return found, nil
	}
	settings, err := s.options.Config(ctx, region)
	if err != nil {
		return nil, &cloud.Error{
			Kind: cloud.Denied, Code: "NoConfiguration",
			Message: Clean(fmt.Sprintf("the SDK's configuration can't be read: %v", err)),
		}
	}
	if settings.Region == "" {
		return nil, cloud.Invalidf("spec.region",
			"the infrastructure cluster names no region and the controller's settings have none: set spec.region of the cluster")
	}
	made := s.build(settings, cluster.Identity)
	made.Key = key
	s.made[at] = made
	return made, nil
}

// build puts the services over one transport: with its budgets, without the SDK's own retries, for those would hold a
// worker while they wait.
func (s *Sessions) build(settings awssdk.Config, identity *awsv1.IdentityView) *Session {
	account := s.account(identity)
	transport := s.transport(settings, account)
	settings.HTTPClient = &http.Client{Transport: transport, CheckRedirect: stayHere}
	settings.Retryer = func() awssdk.Retryer { return awssdk.NopRetryer{} }
	settings.APIOptions = append(settings.APIOptions[:len(settings.APIOptions):len(settings.APIOptions)],
		s.naming(account, settings.Region, transport))
	s.identify(&settings, identity)
	client, machines, identities := autoscaling.NewFromConfig(settings), NewEC2(ec2.NewFromConfig(settings)),
		NewIAM(iam.NewFromConfig(settings))
	managed := NewEKS(eks.NewFromConfig(settings))
	return &Session{
		Region:      settings.Region,
		AutoScaling: client,
		groups:      newGroups(client, s.options.Now),
		tagged:      newTagged(client, s.options.Now),
		EC2:         machines,
		templates:   newTemplates(machines, s.options.Now),
		instances:   newInstances(machines, s.options.Now),
		roles:       newRoles(identities, s.options.Now),
		EKS:         managed,
		nodegroups:  newNodegroups(managed, s.options.Now),
		IAM:         identities,
		S3:          s3.NewFromConfig(settings, simplifyS3),
		SSM:         NewSSM(ssm.NewFromConfig(settings)),

		BootstrapFormatIgnition: s.options.BootstrapFormatIgnition,
		atOnce:                  s.options.AtOnce,
	}
}

// transport is the one of an account in a region.
func (s *Sessions) transport(settings awssdk.Config, account string) *wire.Transport {
	at := place{settings.Region, account}
	if found, ok := s.transports[at]; ok {
		return found
	}
	base := s.options.Base
	if buildable, ok := settings.HTTPClient.(*awshttp.BuildableClient); ok && base == nil {
		base = buildable.GetTransport()
	}
	s.transports[at] = wire.New(wire.Options{
		Base: base, Budgets: budgetsOf, Hook: s.options.Hook, Around: s.options.Around, Now: s.options.Now, Timeout: s.options.Timeout,
	})
	return s.transports[at]
}

// stayHere leaves a redirect unfollowed: a signed request is good for one address.
func stayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close closes idle connections. The sessions can be used after it.
func (s *Sessions) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.transports {
		t.CloseIdleConnections()
	}
}

// naming tells the transport which call a request is, for query protocols have the operation in the body, and that it was
// throttled, for many services say so with a status of 400 and a code in the body.
func (s *Sessions) naming(account, region string, transport *wire.Transport) func(*middleware.Stack) error {
	name := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		middleware.InitializeOutput, middleware.Metadata, error,
	) {
		operation := awsmiddleware.GetOperationName(ctx)
		call := wire.Call{
			Service: serviceName(awsmiddleware.GetServiceID(ctx)), Operation: operation, Account: account, Region: region,
			ReadOnly: readOnly(operation),
		}
		sent := s.Now()
		out, metadata, err := next.HandleInitialize(wire.WithCall(ctx, call), in)
		if status, refused := throttled(err); refused {
			transport.Throttled(call, status, sent)
		}
		return out, metadata, err
	}
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("MusterNaming", name), middleware.After)
	}
}

// defaultConfig is the SDK's own chain: environment, shared files, web identity, instance role; endpoints from
// AWS_ENDPOINT_URL and its kin.
func defaultConfig(ctx context.Context, region string) (awssdk.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithAppID("muster")}
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	settings, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return awssdk.Config{}, fmt.Errorf("load the SDK's configuration: %w", err)
	}
	return settings, nil
}

// simplifyS3 has S3 speak as simply as it can: without checksums that were not asked for, and to a custom endpoint by
// paths, for the names of buckets are no hosts there.
func simplifyS3(o *s3.Options) {
	o.RequestChecksumCalculation = awssdk.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = awssdk.ResponseChecksumValidationWhenRequired
	o.UsePathStyle = o.BaseEndpoint != nil
}

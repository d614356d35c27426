package aws

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go/middleware"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

// clients are the services of one region, over one transport.
type clients struct {
	region      string
	autoscaling *autoscaling.Client
	ec2         *ec2.Client
	ssm         *ssm.Client
	transport   *wire.Transport
	marks       spotMarks
}

// regions makes the clients of each region once.
type regions struct {
	options Options
	mu      sync.Mutex
	made    map[string]*clients
}

// of gives the clients of a region. An empty region means the one that the SDK's settings name.
func (r *regions) of(ctx context.Context, region string) (*clients, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.made[region]; ok {
		return c, nil
	}
	settings, err := r.options.Config(ctx, region)
	if err != nil {
		return nil, &cloud.Error{
			Kind: cloud.Denied, Code: "NoConfiguration",
			Message: clean(fmt.Sprintf("the SDK's configuration can't be read: %v", err)),
		}
	}
	if settings.Region == "" {
		return nil, cloud.Invalidf("spec.region",
			"the infrastructure cluster names no region and the controller's settings have none: set spec.region of the cluster")
	}
	c := r.build(settings)
	r.made[region] = c
	return c, nil
}

// build puts the services over one transport: with its budgets, without the SDK's own retries, for those would hold a
// worker while they wait.
func (r *regions) build(settings awssdk.Config) *clients {
	base := r.options.Base
	if buildable, ok := settings.HTTPClient.(*awshttp.BuildableClient); ok && base == nil {
		base = buildable.GetTransport()
	}
	transport := wire.New(wire.Options{
		Base: base, Budget: budgetOf, Hook: r.options.Hook, Now: r.options.Now, Timeout: r.options.Timeout,
	})
	settings.HTTPClient = &http.Client{Transport: transport, CheckRedirect: stayHere}
	settings.Retryer = func() awssdk.Retryer { return awssdk.NopRetryer{} }
	settings.APIOptions = append(settings.APIOptions[:len(settings.APIOptions):len(settings.APIOptions)],
		naming(r.options.Account, settings.Region))
	return &clients{
		region:      settings.Region,
		autoscaling: autoscaling.NewFromConfig(settings),
		ec2:         ec2.NewFromConfig(settings),
		ssm:         ssm.NewFromConfig(settings),
		transport:   transport,
	}
}

// stayHere leaves a redirect unfollowed: a signed request is good for one address.
func stayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (r *regions) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.made {
		c.transport.CloseIdleConnections()
	}
}

// naming tells the transport which call a request is: query protocols have the operation in the body.
func naming(account, region string) func(*middleware.Stack) error {
	name := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		middleware.InitializeOutput, middleware.Metadata, error,
	) {
		return next.HandleInitialize(wire.With(ctx, wire.Call{
			Service:   serviceName(awsmiddleware.GetServiceID(ctx)),
			Operation: awsmiddleware.GetOperationName(ctx),
			Account:   account,
			Region:    region,
		}), in)
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

package aws

import (
	"context"
	"net/http"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// Tags of groups, as the project promises them: TagOwner carries the owner ID, TagCluster the name of the cluster.
const (
	TagOwner   = "muster.dev/owner"
	TagCluster = "muster.dev/cluster"
)

// TheirPolicy is the ARN of a policy that users attach to a role out of band.
const TheirPolicy = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"

// Credentials returns the credentials of the manager for an account, once that exists. world.Options take it as Manager.
type Credentials func(*simaws.Server) (awssdk.CredentialsProvider, error)

// Account is the simulated account.
type Account struct {
	World  *world.World
	Server *simaws.Server
	// Groups, EC2, EKS and IAM are clients of people and other programs.
	Groups *autoscaling.Client
	EC2    *ec2.Client
	EKS    *eks.Client
	IAM    *iam.Client
	// manager provides the credentials of the manager.
	manager awssdk.CredentialsProvider
}

// New makes an account.
func New(w *world.World) *Account {
	server, err := simaws.New(simaws.Options{Seed: w.Scenario.Seed, Speed: w.Scenario.Speed, MachineHost: w.Workload,
		Switches: w.Scenario.Switches})
	w.Must(err, "make the simulator")
	a := &Account{World: w, Server: server}
	settings := config()
	a.manager = settings.Credentials
	if of, ok := w.Options.Manager.(Credentials); ok {
		a.manager, err = of(server)
		w.Must(err, "make the manager's credentials")
	}
	settings.HTTPClient = &http.Client{Transport: sim.Transport{Handler: server}}
	a.Groups, a.EC2 = autoscaling.NewFromConfig(settings), ec2.NewFromConfig(settings)
	a.EKS, a.IAM = eks.NewFromConfig(settings), iam.NewFromConfig(settings)
	return a
}

// Account is it as the world knows it.
func (a *Account) Account() world.Account {
	return world.Account{Cloud: a.Server, Describe: describe}
}

func config() awssdk.Config {
	return awssdk.Config{
		Region:       simaws.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		BaseEndpoint: awssdk.String("http://simulated.aws"),
		Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

// Settings returns the SDK configuration of drivers.
func (a *Account) Settings(context.Context, string) (awssdk.Config, error) {
	settings := config()
	settings.Credentials = a.manager
	return settings, nil
}

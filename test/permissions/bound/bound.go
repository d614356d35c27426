// Package bound binds drivers to what package permissions allows: their requests are signed by a role that has exactly these
// policies, while the hands of tests keep the account's own keys, which may do everything.
package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/providers/aws/permissions"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

const (
	roleName = "muster-controllers"
	// sessionSeconds is as long as sessions may be, and longer than any scenario.
	sessionSeconds = 12 * 60 * 60
	trustAccount   = `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}`
)

// Credentials creates the role with the policies of the options, and the additional ones, in the simulator's default account, and returns
// credentials for it.
func Credentials(
	ctx context.Context, server *simaws.Server, o permissions.Options, additional ...string,
) (awssdk.CredentialsProvider, error) {
	documents, err := permissions.Documents(o)
	if err != nil {
		return nil, err
	}
	policies := make([]string, 0, len(documents)+len(additional))
	for _, d := range documents {
		text, err := json.Marshal(d)
		if err != nil {
			return nil, fmt.Errorf("encode a policy: %w", err)
		}
		policies = append(policies, string(text))
	}
	policies = append(policies, additional...)
	settings := awssdk.Config{
		Region: simaws.Region, Credentials: credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		BaseEndpoint: awssdk.String("http://simulated.aws"), HTTPClient: &http.Client{Transport: sim.Transport{Handler: server}},
		Retryer: func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
	directory := iam.NewFromConfig(settings)
	made, err := directory.CreateRole(ctx, &iam.CreateRoleInput{
		RoleName: awssdk.String(roleName), AssumeRolePolicyDocument: awssdk.String(trustAccount),
		MaxSessionDuration: awssdk.Int32(sessionSeconds),
	})
	if err != nil {
		return nil, fmt.Errorf("make the controllers' role: %w", err)
	}
	for n, text := range policies {
		if _, err := directory.PutRolePolicy(ctx, &iam.PutRolePolicyInput{
			RoleName: awssdk.String(roleName), PolicyName: awssdk.String(fmt.Sprintf("muster-%d", n+1)), PolicyDocument: awssdk.String(text),
		}); err != nil {
			return nil, fmt.Errorf("give the role its policy: %w", err)
		}
	}
	got, err := sts.NewFromConfig(settings).AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn: made.Role.Arn, RoleSessionName: awssdk.String("test"), DurationSeconds: awssdk.Int32(sessionSeconds),
	})
	if err != nil {
		return nil, fmt.Errorf("assume the controllers' role: %w", err)
	}
	return credentials.NewStaticCredentialsProvider(*got.Credentials.AccessKeyId, *got.Credentials.SecretAccessKey,
		*got.Credentials.SessionToken), nil
}

// Denied returns the actions that the simulator has denied the role, each with how often, but for those about what was gone.
func Denied(server *simaws.Server) []string {
	denied := maps.Clone(server.Asked().Denied)
	maps.DeleteFunc(denied, func(action string, _ int) bool { return slices.Contains(ofGone, action) })
	var all []string
	for _, action := range slices.Sorted(maps.Keys(denied)) {
		all = append(all, fmt.Sprintf("%s (%d times)", action, denied[action]))
	}
	return all
}

// Account is the simulator of one case with the credentials for the driver.
type Account struct {
	options permissions.Options
	server  *simaws.Server
	// Provider signs the driver's requests.
	Provider awssdk.CredentialsProvider
}

// Bind makes the role in a simulator that was just made.
func (a *Account) Bind(server *simaws.Server, err error) (*simaws.Server, error) {
	if err != nil {
		return nil, err
	}
	a.server = server
	a.Provider, err = Credentials(context.Background(), server, a.options)
	return server, err
}

// ofGone are the actions that a driver may be denied once what they are about is gone: a policy that allows by tags allows nothing
// about what has none. Were they not allowed at all, the cases themselves would fail.
var ofGone = []string{
	"autoscaling:DeleteAutoScalingGroup", "autoscaling:TerminateInstanceInAutoScalingGroup", "eks:DeleteNodegroup", "iam:DeleteRole",
	"iam:DetachRolePolicy",
}

// ByContract are the actions that the contract suite of groups asks for and no scenario does: that they are needed is shown there.
var ByContract = []string{
	"autoscaling:DeleteLifecycleHook", "autoscaling:DeleteTags", "autoscaling:RecordLifecycleActionHeartbeat", "autoscaling:ResumeProcesses",
	"autoscaling:SuspendProcesses", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets",
}

// Contract plays the cases of a contract suite with a driver under a role, except those with failing requests: they use the same actions,
// and reads of deleted resources lead a driver to actions that are denied. No request may be denied, and the cases must use each action in
// shows.
func Contract[S any](t *testing.T, o permissions.Options, shows []string, suite func(a *Account) cloudtest.Suite[S]) {
	var mu sync.Mutex
	used := map[string]int{}
	t.Run("cases", func(t *testing.T) {
		cases(t, func() *Account { return &Account{options: o} }, suite, func(a *Account) {
			mu.Lock()
			defer mu.Unlock()
			for action, n := range a.server.Asked().Allowed {
				used[action] += n
			}
		})
	})
	for _, action := range shows {
		if used[action] == 0 {
			t.Errorf("want a case to ask for %s, found none: is it superfluous?", action)
		}
	}
}

func cases[S any](t *testing.T, account func() *Account, suite func(a *Account) cloudtest.Suite[S], played func(*Account)) {
	for _, c := range cloudtest.Cases[S]() {
		if c.Faulty() {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := account()
				s := suite(a)
				s.Play(t, c)
				if a.server == nil {
					t.Fatal("want the suite to bind the account that it makes")
				}
				for _, denied := range Denied(a.server) {
					t.Errorf("want it allowed by what package permissions prints: %s", denied)
				}
				played(a)
			})
		})
	}
}

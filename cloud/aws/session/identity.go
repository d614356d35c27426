package session

import (
	"context"
	"errors"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go/middleware"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
)

const (
	// roleSessionName identifies Muster in the account's logs, unless the identity names another session.
	roleSessionName = "muster"
	// roleDuration of a session where an identity says nothing: the least that the service gives.
	roleDuration = 15 * time.Minute
)

// account returns the account in the keys of rate budgets and metrics: the account of the role where there is one, else the
// identity's name.
func (s *Sessions) account(i *awsv1.IdentityView) string {
	if i == nil {
		return s.options.Account
	}
	if n := len(i.Roles); n > 0 {
		if role, err := arn.Parse(i.Roles[n-1].ARN); err == nil && role.AccountID != "" {
			return role.AccountID
		}
	}
	return i.Name
}

// identify has the requests of a configuration signed by an identity instead of the controller.
func (s *Sessions) identify(settings *awssdk.Config, i *awsv1.IdentityView) {
	if i == nil {
		return
	}
	settings.APIOptions = append(settings.APIOptions, callAnnotator(i))
	if !i.Keys.Empty() {
		settings.Credentials = credentials.NewStaticCredentialsProvider(i.Keys.Expose())
	}
	for _, role := range i.Roles {
		source := sts.NewFromConfig(*settings)
		settings.Credentials = &renewing{now: s.options.Now, get: func(ctx context.Context) (awssdk.Credentials, error) {
			return assume(ctx, source, role, s.options.Now())
		}}
	}
}

// assume gets the credentials of a role. Its refusal names the object that names the role.
func assume(ctx context.Context, source *sts.Client, role awsv1.RoleView, now time.Time) (awssdk.Credentials, error) {
	in := &sts.AssumeRoleInput{RoleArn: &role.ARN, RoleSessionName: awssdk.String(roleSessionName),
		DurationSeconds: awssdk.Int32(int32(roleDuration.Seconds()))}
	if role.SessionName != "" {
		in.RoleSessionName = &role.SessionName
	}
	if role.Duration > 0 {
		in.DurationSeconds = awssdk.Int32(int32(role.Duration.Seconds()))
	}
	if role.InlinePolicy != "" {
		in.Policy = &role.InlinePolicy
	}
	if role.ExternalID != "" {
		in.ExternalId = &role.ExternalID
	}
	for _, policy := range role.PolicyARNs {
		in.PolicyArns = append(in.PolicyArns, ststypes.PolicyDescriptorType{Arn: &policy})
	}
	out, err := source.AssumeRole(ctx, in)
	if err != nil {
		return awssdk.Credentials{}, unassumed(Refusal(err, now), role.Name, err)
	}
	c := out.Credentials
	if c == nil || c.AccessKeyId == nil || c.SecretAccessKey == nil || c.SessionToken == nil || c.Expiration == nil {
		return awssdk.Credentials{}, &cloud.Error{Kind: cloud.Unavailable, Op: "sts:AssumeRole", Code: cloud.CodeNoReply,
			Message: "the reply holds no credentials"}
	}
	return awssdk.Credentials{
		AccessKeyID: *c.AccessKeyId, SecretAccessKey: *c.SecretAccessKey, SessionToken: *c.SessionToken,
		Source: role.Name, CanExpire: true, Expires: *OurTime(c.Expiration, out.ResultMetadata),
	}, nil
}

// unassumed names the object whose role was refused, unless that of its source was.
func unassumed(refusal error, name string, err error) error {
	var source, refused *cloud.Error
	if errors.As(err, &source) || !errors.As(refusal, &refused) {
		return refusal
	}
	if refused.Kind == cloud.Denied || refused.Kind == cloud.Invalid {
		refused.Field = name
	}
	return refused
}

// callError is the error of a call, with the identity that signed it.
type callError struct {
	err error
	by  *awsv1.IdentityView
}

// Error is the text of the error within.
func (a *callError) Error() string { return a.err.Error() }

// Unwrap gives the error within.
func (a *callError) Unwrap() error { return a.err }

// callAnnotator adds the calling identity to every error.
func callAnnotator(i *awsv1.IdentityView) func(*middleware.Stack) error {
	handle := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		out middleware.InitializeOutput, metadata middleware.Metadata, err error,
	) {
		if out, metadata, err = next.HandleInitialize(ctx, in); err != nil {
			err = &callError{err: err, by: i}
		}
		return out, metadata, err
	}
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("MusterAsking", handle), middleware.Before)
	}
}

// byWhom names the identity that was denied something, and keeps its keys out of the message.
func byWhom(err error, e *cloud.Error) *cloud.Error {
	var a *callError
	if !errors.As(err, &a) {
		return e
	}
	if e.Kind == cloud.Denied && e.Field == "" {
		e.Field = a.by.Name
	}
	for _, text := range texts(a.by.Keys) {
		_ = cloud.RedactError(e, cloud.NewBootstrap([]byte(text), ""))
	}
	return e
}

func texts(keys awsv1.AccessKeys) []string {
	id, secret, token := keys.Expose()
	return []string{id, secret, token}
}

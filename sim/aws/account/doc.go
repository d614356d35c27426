// Package account is the core of an account of the simulated AWS: what all its services in a region share.
//
// Dependencies between the services run one way: eks uses autoscaling, ec2 and iam; autoscaling uses ec2 and iam; ec2, s3 and ssm use iam.
// Each service has one Service value for an account in a region, which embeds the Core; its parts hold the state.
package account

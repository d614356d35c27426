package permissions

// objectFolder is the folder of the pools' user data in the bucket.
const objectFolder = "machine-pool/"

// userData are the grants about the bucket that holds user data which is too large for a template.
func userData(o Options) []Grant {
	bucket := "arn:" + o.Partition + ":s3:::" + o.Bucket
	objects := bucket + "/" + objectFolder + "*"
	return []Grant{
		{
			Name: "MusterUserData", Resources: []string{objects}, Actions: []Action{
				{Name: "s3:DeleteObject", Why: "data that no template version points to any more"},
				{Name: "s3:GetObject", Why: "whether the data is still there, what is copied onto itself, and what presigned addresses allow"},
				{Name: "s3:PutObject", Why: "user data that is larger than 16 KB compressed"},
			},
		},
		{
			Name: "MusterUserDataBucket", Resources: []string{bucket}, Actions: []Action{
				{Name: "s3:ListBucket", Why: "without it data that is missing looks like data that is denied"},
			},
		},
	}
}

// Package comments holds the drivers against the comments of the SDKs: a test lists the fields that a driver sets or reads and whose
// comment restricts them, and answers.tsv has a line for each on how the driver keeps to it.
package comments

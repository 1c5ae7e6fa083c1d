// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objectstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob/s3blob"
)

// usualRegion is that of servers that are none of Amazon, and mostly don't look at it.
const usualRegion = "us-east-1"

// openS3 connects to a bucket of Amazon S3, or of a server that speaks its protocol. The library
// can do that by a URL, but then writes warnings to the terminal, and waits for seconds between
// attempts.
func openS3(ctx context.Context, a Address) (*cloudBucket, error) {
	p := parameters{maps.Clone(a.Query), nil}
	endpoint := p.text("endpoint")
	pathStyle := p.flag("use_path_style")
	opts := []func(*config.LoadOptions) error{
		config.WithLogger(logging.Nop{}),
		// Objects have checksums of their own; not every server knows the newer ones of the protocol.
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Second })
		}),
	}
	if region := p.text("region"); region != "" {
		opts = append(opts, config.WithRegion(region))
	}
	if profile := p.text("profile"); profile != "" {
		opts = append(opts, config.WithSharedConfigProfile(profile))
	}
	var bucketOpts s3blob.Options
	if key := p.text("kms_key_id"); key != "" {
		bucketOpts.EncryptionType, bucketOpts.KMSEncryptionID = types.ServerSideEncryptionAwsKms, key
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	settings, err := config.LoadDefaultConfig(ctx, opts...)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(settings, func(o *s3.Options) {
		if endpoint != "" {
			o.BaseEndpoint = &endpoint // else it may be one of AWS_ENDPOINT_URL
		}
		isOther := o.BaseEndpoint != nil
		if o.UsePathStyle = isOther; pathStyle != nil {
			o.UsePathStyle = *pathStyle
		}
		if o.Region == "" && isOther {
			o.Region = usualRegion
		}
	})
	if client.Options().Region == "" {
		return nil, errors.New("no region is given: by the parameter region, by AWS_REGION or by the profile")
	}
	bucketOpts.RequestChecksumCalculation = settings.RequestChecksumCalculation
	b, err := s3blob.OpenBucket(ctx, client, a.Bucket, &bucketOpts)
	if err != nil {
		return nil, err
	}
	return &cloudBucket{b, a.Scheme}, nil
}

// parameters are those of a location that were not asked for yet.
type parameters struct {
	left url.Values
	err  error
}

func (p *parameters) text(name string) string {
	value := p.left.Get(name)
	p.left.Del(name)
	return value
}

// flag returns nil if the parameter is not there.
func (p *parameters) flag(name string) *bool {
	value := p.text(name)
	if value == "" {
		return nil
	}
	flag, err := strconv.ParseBool(value)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("its parameter %s is %q and not true or false", name, value)
	}
	return &flag
}

// check fails for a parameter with a wrong value, and for one that nobody has asked for.
func (p *parameters) check() error {
	for name := range p.left {
		if p.err == nil {
			p.err = fmt.Errorf("it has a parameter %q that is not known", name)
		}
	}
	return p.err
}

// Script of the test pages: makes the AWS SDK for JavaScript available.

import { DynamoDB } from "@aws-sdk/client-dynamodb";

window.DynamoDB = DynamoDB;

// What a page of the tests has of the AWS SDK for JavaScript.

import { DynamoDB } from "@aws-sdk/client-dynamodb";

window.DynamoDB = DynamoDB;
